package dev.culvert.web;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers and times as pages show them. */
public final class Format {
    /** What a page shows where there is no value. */
    public static final String NONE = "–";
    private static final DateTimeFormatter EXACT = DateTimeFormatter
            .ofPattern("yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    private static final int SIZE_STEP = 1024;
    private static final double MILLI = 1e-3;

    private Format() {}

    /** {@code 12 B}, {@code 3.4 MiB}. */
    public static String bytes(double bytes) {
        double value = bytes;
        int unit = 0;
        while (value >= SIZE_STEP && unit < SIZES.length - 1) {
            value /= SIZE_STEP;
            unit++;
        }
        return (unit == 0 ? Long.toString(Math.round(value)) : digits(value)) + ' ' + SIZES[unit];
    }

    /** As {@link #bytes(double)}. */
    public static String bytes(long bytes) {
        return bytes((double) bytes);
    }

    /** {@code 340 µs}, {@code 12.5 ms}, {@code 1.2 s}; {@link #NONE} for what is not a number. */
    public static String seconds(double seconds) {
        if (!Double.isFinite(seconds)) {
            return NONE;
        }
        if (seconds < MILLI) {
            return Math.round(seconds / MILLI / MILLI) + " µs";
        }
        return seconds < 1 ? digits(seconds / MILLI) + " ms" : digits(seconds) + " s";
    }

    /** The two largest units: {@code 3 d 4 h}, {@code 12 min 5 s}. */
    public static String duration(Duration duration) {
        long seconds = Math.max(0, duration.toSeconds());
        if (seconds < 60) {
            return seconds + " s";
        }
        if (seconds < 3600) {
            return seconds / 60 + " min" + rest(seconds % 60, "s");
        }
        return seconds < 86_400
                ? seconds / 3600 + " h" + rest(seconds % 3600 / 60, "min")
                : seconds / 86_400 + " d" + rest(seconds % 86_400 / 3600, "h");
    }

    /** {@code 5 s ago}, {@code in 3 h}. */
    public static String relative(@Nullable Instant moment, Instant now) {
        if (moment == null) {
            return NONE;
        }
        Duration passed = Duration.between(moment, now);
        if (passed.abs().compareTo(Duration.ofSeconds(1)) < 0) {
            return "now";
        }
        String length = largest(passed.abs());
        return passed.isNegative() ? "in " + length : length + " ago";
    }

    /** The date and time in UTC, to the second. */
    public static String exact(Instant moment) {
        return EXACT.format(moment);
    }

    /** The date and time as machines read it, to the second. */
    public static String machine(Instant moment) {
        return moment.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** A number with thin spaces between thousands: {@code 12 345}. */
    public static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number).replace(',', '\u202f');
    }

    /** {@code 1 runtime}, {@code 3 runtimes}. */
    public static String plural(long number, String one, String more) {
        return count(number) + ' ' + (number == 1 ? one : more);
    }

    private static String largest(Duration length) {
        long seconds = length.toSeconds();
        if (seconds < 60) {
            return seconds + " s";
        }
        if (seconds < 3600) {
            return seconds / 60 + " min";
        }
        return seconds < 172_800 ? seconds / 3600 + " h" : seconds / 86_400 + " d";
    }

    private static String rest(long value, String unit) {
        return value == 0 ? "" : " " + value + ' ' + unit;
    }

    private static String digits(double value) {
        return value < 10 ? String.format(Locale.ROOT, "%.1f", value) : Long.toString(Math.round(value));
    }
}
