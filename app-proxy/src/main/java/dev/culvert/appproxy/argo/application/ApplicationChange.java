package dev.culvert.appproxy.argo.application;

/** A change of an application. */
sealed interface ApplicationChange {
    /** Its name in permission rules. */
    String action();

    /**
     * Brings the cluster to the state in Git.
     *
     * @param revision branch, tag or commit; empty for the application's own
     */
    record Sync(String revision, boolean prune, boolean dryRun) implements ApplicationChange {
        @Override
        public String action() {
            return "SYNC";
        }
    }

    /** Ends the running operation. */
    record Terminate() implements ApplicationChange {
        @Override
        public String action() {
            return "TERMINATE_SYNC";
        }
    }

    /**
     * Brings the cluster to an earlier deployment.
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
