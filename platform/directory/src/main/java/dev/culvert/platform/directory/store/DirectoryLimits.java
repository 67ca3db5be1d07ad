package dev.culvert.platform.directory.store;

import dev.culvert.store.SqliteLimits;
import java.time.Duration;

/**
 * What the directory holds at most; the last four are per account.
 *
 * @param maxQueued database operations that wait; more are refused at once
 * @param maxChanges changes that are remembered; who looks more seldom forgets everything it knew
 */
public record DirectoryLimits(int maxQueued, int maxChanges, int maxAccounts, int maxUsers, int maxKeys,
        int maxTeams, int maxRules) {
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(5);

    /** A decision reads all rules of its account and entity: their number is what it costs. */
    public static DirectoryLimits defaults() {
        return new DirectoryLimits(10_000, 10_000, 10_000, 10_000, 20_000, 1_000, 1_000);
    }

    SqliteLimits ofDatabase() {
        return new SqliteLimits(maxQueued, LOCK_TIMEOUT);
    }
}
