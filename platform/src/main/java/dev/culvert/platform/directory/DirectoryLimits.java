package dev.culvert.platform.directory;

import dev.culvert.edge.sqlite.SqliteLimits;
import java.time.Duration;

/**
 * What the directory holds at most; the last four are per account.
 *
 * @param maxQueued database operations that wait; more are refused at once
 * @param maxChanges changes that are remembered; who looks more seldom forgets everything it knew
 */
record DirectoryLimits(int maxQueued, int maxChanges, int maxAccounts, int maxUsers, int maxKeys,
        int maxTeams, int maxRules) {
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(5);

    /** A decision reads all rules of its account and entity: their number is what it costs. */
    static DirectoryLimits defaults() {
        return new DirectoryLimits(10_000, 10_000, 10_000, 10_000, 20_000, 1_000, 1_000);
    }

    SqliteLimits ofDatabase() {
        return new SqliteLimits(maxQueued, LOCK_TIMEOUT);
    }
}
