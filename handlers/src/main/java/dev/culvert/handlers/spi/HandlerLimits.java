package dev.culvert.handlers.spi;

import java.time.Duration;

/**
 * What one handler may use of its part. Calls are requests, and root fields of GraphQL.
 *
 * @param maxConcurrent calls in progress, the bodies of their responses included, 1..100000; beyond it they are answered 503
 * @param timeout how long a call may take to its response's head, 504 after it; zero is without end
 * @param threads threads of its own, 1..256: its calls, and work that blocks, run there and nowhere else
 */
public record HandlerLimits(int maxConcurrent, Duration timeout, int threads) {
    public HandlerLimits {
        if (maxConcurrent < 1 || maxConcurrent > 100_000 || timeout.isNegative() || threads < 1
                || threads > 256) {
            throw new IllegalArgumentException("limits: " + maxConcurrent + ", " + timeout + ", " + threads
                    + " (expected: 1..100000, zero or more, 1..256)");
        }
    }

    /** 64 calls, a minute, 8 threads. */
    public static HandlerLimits defaults() {
        return new HandlerLimits(64, Duration.ofMinutes(1), 8);
    }
}
