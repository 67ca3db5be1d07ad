package dev.culvert.server.admin;

import dev.culvert.config.Durations;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** Parses the lifetime of a token in requests of the admin API: {@code 30m}. */
final class TokenLife {
    private static final Duration LONGEST = Duration.ofDays(7);

    private TokenLife() {}

    /**
     * Reads the value of {@code field}. Throws HandlerException with {@code BAD_REQUEST} unless it is 1s to
     * 7d.
     */
    static Duration of(String field, String text) {
        Duration life = Durations.parse(text, 6, ChronoUnit.SECONDS, ChronoUnit.DAYS);
        if (life == null || life.isZero() || life.compareTo(LONGEST) > 0) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    field + ": not a life of a token (expected: 1s..7d, as 30m or 1h)");
        }
        return life;
    }
}
