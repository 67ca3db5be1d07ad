package dev.culvert.platform.directory.store;

import dev.culvert.store.SqliteLimits;
import java.time.Duration;

/**
 * The limits of the directory; the last four are for each account.
 *
 * @param maxQueued queued database operations; more are refused at once
 * @param maxChanges stored changes; a client that polls more rarely must drop all cached answers
 */
public record DirectoryLimits(int maxQueued, int maxChanges, int maxAccounts, int maxUsers, int maxKeys,
        int maxTeams, int maxRules) {
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(5);

    /**
     * The default limits. A decision reads all rules of its account and entity, so their number determines
     * its cost.
     */
    public static DirectoryLimits defaults() {
        return new DirectoryLimits(10_000, 10_000, 10_000, 10_000, 20_000, 1_000, 1_000);
    }

    SqliteLimits ofDatabase() {
        return new SqliteLimits(maxQueued, LOCK_TIMEOUT);
    }
}
