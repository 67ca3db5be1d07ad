package dev.culvert.server.store;

import dev.culvert.store.SqliteLimits;
import java.time.Duration;

/**
 * The limits of the store.
 *
 * @param maxRuntimes runtimes; all are kept in memory, about 1 KiB each
 * @param maxHosts custom hosts of one runtime
 * @param maxTokens usable enrolment tokens of one runtime; as many spent ones are remembered
 * @param maxQueued queued database operations; more are refused at once
 * @param lockTimeout wait for a database held by another process, such as a server that is stopping
 */
public record StoreLimits(int maxRuntimes, int maxHosts, int maxTokens, int maxQueued, Duration lockTimeout) {
    /** The defaults: enough for ten times the tunnels that one machine carries. */
    public static StoreLimits defaults() {
        return new StoreLimits(100_000, 16, 100, 10_000, Duration.ofSeconds(5));
    }

    /** Returns these limits with another wait for the database. */
    public StoreLimits waiting(Duration wait) {
        return new StoreLimits(maxRuntimes, maxHosts, maxTokens, maxQueued, wait);
    }

    /** The limits of the underlying database. */
    SqliteLimits ofDatabase() {
        return new SqliteLimits(maxQueued, lockTimeout);
    }
}
