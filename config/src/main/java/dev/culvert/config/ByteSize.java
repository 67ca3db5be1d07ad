package dev.culvert.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of bytes in the notation of configuration: {@code 512}, {@code 64KiB}, {@code 25MiB}, {@code 1GiB}
 * (powers of two).
 *
 * @param bytes the number of bytes, not negative
 */
public record ByteSize(long bytes) {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,12})(B|KiB|MiB|GiB)?");

    public ByteSize {
        if (bytes < 0) {
            throw new IllegalArgumentException(bytes + " (expected: a size of 0 or more)");
        }
    }

    /** Parses a size. Throws IllegalArgumentException that names the text and the expected form. */
    public static ByteSize parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(text + " (expected: a size as 512, 64KiB, 25MiB or 1GiB)");
        }
        String unit = matcher.group(2);
        int shift = unit == null || unit.equals("B")
                ? 0
                : unit.equals("KiB") ? 10 : unit.equals("MiB") ? 20 : 30;
        return new ByteSize(Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << shift));
    }

    @Override
    public String toString() {
        for (int shift = 30; shift > 0; shift -= 10) {
            if (bytes > 0 && bytes % (1L << shift) == 0) {
                return (bytes >> shift) + (shift == 30 ? "GiB" : shift == 20 ? "MiB" : "KiB");
            }
        }
        return Long.toString(bytes);
    }
}
