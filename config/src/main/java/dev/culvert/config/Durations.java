package dev.culvert.config;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Parses and formats durations: {@code 500ms}, {@code 10s}, {@code 5m}, {@code 2h}, {@code 7d}. Configuration
 * files, options of commands and request bodies use this notation, each with its own units and range.
 */
public final class Durations {
    /** Nine digits of days fit into a long of milliseconds. */
    public static final int MAX_DIGITS = 9;

    private static final Pattern TEXT = Pattern.compile("(\\d{1," + MAX_DIGITS + "})(ms|s|m|h|d)");
    private static final Map<String, ChronoUnit> UNITS = Map.of("ms", ChronoUnit.MILLIS, "s",
            ChronoUnit.SECONDS, "m", ChronoUnit.MINUTES, "h", ChronoUnit.HOURS, "d", ChronoUnit.DAYS);

    private Durations() {}

    /**
     * Parses a number and its unit; null if the text is not in this notation, or beyond these limits.
     *
     * @param maxDigits the maximum number of digits, up to {@link #MAX_DIGITS}
     * @param smallest the smallest accepted unit
     * @param largest the largest accepted unit
     */
    public static @Nullable Duration parse(String text, int maxDigits, ChronoUnit smallest,
            ChronoUnit largest) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches() || matcher.group(1).length() > maxDigits) {
            return null;
        }
        ChronoUnit unit = unit(matcher.group(2));
        return unit.compareTo(smallest) < 0 || unit.compareTo(largest) > 0
                ? null
                : Duration.of(Long.parseLong(matcher.group(1)), unit);
    }

    /** Formats a duration in the largest unit that holds it exactly. */
    static String format(Duration duration) {
        long millis = duration.toMillis();
        for (String symbol : List.of("d", "h", "m", "s")) {
            long unitMillis = unit(symbol).getDuration().toMillis();
            if (millis > 0 && millis % unitMillis == 0) {
                return millis / unitMillis + symbol;
            }
        }
        return millis == 0 ? "0s" : millis + "ms";
    }

    private static ChronoUnit unit(String symbol) {
        return UNITS.getOrDefault(symbol, ChronoUnit.MILLIS);
    }

    /**
     * Formats a duration for people, as {@code 396 days}: in the largest unit of which it has at least two,
     * because the minutes of a year do not matter.
     */
    public static String rounded(Duration length) {
        if (length.toDays() >= 2) {
            return length.toDays() + " days";
        }
        if (length.toHours() >= 2) {
            return length.toHours() + " hours";
        }
        return length.toMinutes() >= 2 ? length.toMinutes() + " minutes" : length.toSeconds() + " s";
    }
}
