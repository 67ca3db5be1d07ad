package dev.culvert.launcher.command;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses durations of options, {@code 90d}, and formats durations for people, {@code 396 days}. */
final class Durations {
    private static final Pattern FORM = Pattern.compile("(\\d{1,6})([smhd])");
    private static final Map<String, Duration> UNITS = Map.of("s", Duration.ofSeconds(1), "m",
            Duration.ofMinutes(1), "h",
            Duration.ofHours(1), "d", Duration.ofDays(1));

    private Durations() {}

    /** Parses an option's value; null if it is not a duration. */
    static @Nullable Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Objects.requireNonNull(UNITS.get(matcher.group(2)))
                        .multipliedBy(Long.parseLong(matcher.group(1)))
                : null;
    }

    /**
     * Formats a duration in the largest unit of which it has at least two, because the minutes of a year do
     * not matter.
     */
    static String text(Duration length) {
        if (length.toDays() >= 2) {
            return length.toDays() + " days";
        }
        if (length.toHours() >= 2) {
            return length.toHours() + " hours";
        }
        return length.toMinutes() >= 2 ? length.toMinutes() + " minutes" : length.toSeconds() + " s";
    }
}
