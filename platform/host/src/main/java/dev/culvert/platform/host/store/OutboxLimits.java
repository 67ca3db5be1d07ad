package dev.culvert.platform.host.store;

import java.time.Duration;

/**
 * The limits of the outbox.
 *
 * @param all the number of stored messages
 * @param perAccount those of one account
 * @param concurrent the number of deliveries at the same time
 * @param concurrentPerAccount those of one account
 * @param timeout the time of one delivery
 * @param firstPause the time before the second attempt; it doubles with each one
 * @param lastPause the longest time between two attempts
 * @param maxAge how long a message is tried
 */
public record OutboxLimits(int all, int perAccount, int concurrent, int concurrentPerAccount,
        Duration timeout, Duration firstPause, Duration lastPause, Duration maxAge) {
    /** The limits of docs/control-plane.md. */
    public static OutboxLimits defaults() {
        return new OutboxLimits(10_000, 1_000, 16, 4, Duration.ofSeconds(30), Duration.ofSeconds(1),
                Duration.ofMinutes(1), Duration.ofDays(7));
    }

    /** The pause after attempt number {@code attempt}, before it is spread. */
    Duration pause(int attempt) {
        long doubled = firstPause.toMillis() << Math.min(attempt - 1, 20);
        return doubled > lastPause.toMillis() ? lastPause : Duration.ofMillis(doubled);
    }
}
