package dev.culvert.platform.directory.store;

/**
 * The limits of the directory; the last four are for each account.
 *
 */
public record DirectoryLimits(int maxAccounts, int maxUsers, int maxKeys,
        int maxTeams, int maxRules) {
    /**
     * The default limits. A decision reads all rules of its account and entity, so their number determines
     * its cost.
     */
    public static DirectoryLimits defaults() {
        return new DirectoryLimits(10_000, 10_000, 20_000, 1_000, 1_000);
    }
}
