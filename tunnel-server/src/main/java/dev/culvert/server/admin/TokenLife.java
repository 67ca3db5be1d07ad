package dev.culvert.server.admin;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses the lifetime of a token in requests of the admin API: {@code 30m}. */
final class TokenLife {
    private static final Pattern FORM = Pattern.compile("(\\d{1,6})(s|m|h|d)");
    private static final Map<String, Duration> UNITS = Map.of("s", Duration.ofSeconds(1), "m",
            Duration.ofMinutes(1), "h",
            Duration.ofHours(1), "d", Duration.ofDays(1));
    private static final Duration LONGEST = Duration.ofDays(7);

    private TokenLife() {}

    /**
     * Reads the value of {@code field}. Throws HandlerException with {@code BAD_REQUEST} unless it is 1s to
     * 7d.
     */
    static Duration of(String field, String text) {
        Matcher matcher = FORM.matcher(text);
        Duration life = matcher.matches()
                ? Objects.requireNonNull(UNITS.get(matcher.group(2)))
                        .multipliedBy(Long.parseLong(matcher.group(1)))
                : null;
        if (life == null || life.isZero() || life.compareTo(LONGEST) > 0) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    field + ": not a life of a token (expected: 1s..7d, as 30m or 1h)");
        }
        return life;
    }
}
