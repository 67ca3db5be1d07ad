package dev.culvert.appproxy.argo.rollout;

/** A change of a rollout. */
public enum RolloutChange {
    PROMOTE("promoteRollout", "ROLLOUT_RESUME"), PROMOTE_FULL("promoteRolloutFull",
            "ROLLOUT_PROMOTE_FULL"), SKIP(
                    "skipRolloutStep",
                    "ROLLOUT_SKIP_CURRENT_STEP"), ABORT("abortRollout", "ROLLOUT_ABORT"), PAUSE(
                            "pauseRollout",
                            "ROLLOUT_PAUSE"), RESUME("resumeRollout", "ROLLOUT_RESUME"), RETRY("retryRollout",
                                    "ROLLOUT_RETRY"), RESTART("restartRollout", "ROLLOUT_RESTART");

    private final String field;
    private final String action;

    RolloutChange(String field, String action) {
        this.field = field;
        this.action = action;
    }

    /** Its field in the schema. */
    public String field() {
        return field;
    }

    /** Its name in permission rules. */
    String action() {
        return action;
    }
}
