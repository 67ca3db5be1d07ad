package dev.culvert.launcher.command;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as options are given, {@code 90d}, and as people are told, {@code 396 days}. */
final class Durations {
    private static final Pattern FORM = Pattern.compile("(\\d{1,6})([smhd])");
    private static final Map<String, Duration> UNITS = Map.of("s", Duration.ofSeconds(1), "m",
            Duration.ofMinutes(1), "h",
            Duration.ofHours(1), "d", Duration.ofDays(1));

    private Durations() {}

    /** Reads an option's value; null: it is none. */
    static @Nullable Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Objects.requireNonNull(UNITS.get(matcher.group(2)))
                        .multipliedBy(Long.parseLong(matcher.group(1)))
                : null;
    }

    /** In whole units, of which there are two at least: nobody minds the minutes of a year. */
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
