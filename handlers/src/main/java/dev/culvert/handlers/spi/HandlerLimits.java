package dev.culvert.handlers.spi;

import java.time.Duration;

/**
 * The limits of one handler. Calls are requests and root fields of GraphQL.
 *
 * @param maxConcurrent the number of calls in progress, including their response bodies, 1..100000; further
 *     calls are answered 503
 * @param timeout the time from the start of a call to its response's head, then 504; zero means no limit
 * @param threads the number of its own threads, 1..256; its calls and its blocking work run only there
 */
public record HandlerLimits(int maxConcurrent, Duration timeout, int threads) {
    public HandlerLimits {
        if (maxConcurrent < 1 || maxConcurrent > 100_000 || timeout.isNegative() || threads < 1
                || threads > 256) {
            throw new IllegalArgumentException("limits: " + maxConcurrent + ", " + timeout + ", " + threads
                    + " (expected: 1..100000, zero or more, 1..256)");
        }
    }

    /** 64 calls, one minute, 8 threads. */
    public static HandlerLimits defaults() {
        return new HandlerLimits(64, Duration.ofMinutes(1), 8);
    }
}
