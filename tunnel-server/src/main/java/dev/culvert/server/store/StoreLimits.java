package dev.culvert.server.store;

import dev.culvert.store.SqliteLimits;
import java.time.Duration;

/**
 * What the store holds at most.
 *
 * @param maxRuntimes runtimes; all are kept in memory, about 1 KiB each
 * @param maxHosts custom hosts of one runtime
 * @param maxTokens enrolment tokens of one runtime that can still be used; as many others are remembered
 * @param maxQueued database operations that wait; more are refused at once
 * @param lockTimeout wait for a database that another process holds, as a server that is just ending
 */
public record StoreLimits(int maxRuntimes, int maxHosts, int maxTokens, int maxQueued, Duration lockTimeout) {
    /** Enough for ten times the tunnels one machine carries. */
    public static StoreLimits defaults() {
        return new StoreLimits(100_000, 16, 100, 10_000, Duration.ofSeconds(5));
    }

    /** These limits with another wait for the database. */
    public StoreLimits waiting(Duration wait) {
        return new StoreLimits(maxRuntimes, maxHosts, maxTokens, maxQueued, wait);
    }

    /** Those of the database below. */
    SqliteLimits ofDatabase() {
        return new SqliteLimits(maxQueued, lockTimeout);
    }
}
