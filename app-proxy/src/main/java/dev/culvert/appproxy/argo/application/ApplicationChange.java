package dev.culvert.appproxy.argo.application;

/** What can be done to an application. */
sealed interface ApplicationChange {
    /** What permission rules call it. */
    String action();

    /**
     * Brings the cluster to what Git says.
     *
     * @param revision branch, tag or commit; empty for the application's own
     */
    record Sync(String revision, boolean prune, boolean dryRun) implements ApplicationChange {
        @Override
        public String action() {
            return "SYNC";
        }
    }

    /** Ends the operation that runs. */
    record Terminate() implements ApplicationChange {
        @Override
        public String action() {
            return "TERMINATE_SYNC";
        }
    }

    /**
     * Brings the cluster to what was deployed before.
     *
     * @param id of the deployment in the application's history
     */
    record Rollback(long id, boolean prune, boolean dryRun) implements ApplicationChange {
        @Override
        public String action() {
            return "APP_ROLLBACK";
        }
    }
}
