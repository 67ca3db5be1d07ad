package dev.culvert.appproxy.argo.rollout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * The merge patches that change a rollout, as Argo's kubectl plugin sends them.
 *
 * @param status for the status resource, sent first; null for none
 * @param spec for the object itself, sent afterwards; null for none
 * @param unified in place of both, where the status is no resource of its own (Rollouts before 0.10)
 */
record RolloutPatches(@Nullable ObjectNode status, @Nullable ObjectNode spec, ObjectNode unified) {

    /**
     * Returns the patches that make a change. Throws HandlerException when the rollout's state does not allow
     * the change.
     */
    static RolloutPatches of(RolloutChange change, JsonNode rollout) {
        return switch (change) {
            case PROMOTE -> promote(rollout);
            case PROMOTE_FULL -> promoteFull(rollout);
            case SKIP -> skip(rollout);
            case ABORT -> ofStatus("{\"status\":{\"abort\":true}}");
            case RETRY -> ofStatus("{\"status\":{\"abort\":false}}");
            case PAUSE -> ofSpec("{\"spec\":{\"paused\":true}}");
            case RESUME -> ofSpec("{\"spec\":{\"paused\":false}}");
            case RESTART -> ofSpec("{\"spec\":{\"restartAt\":\"" + Fields.now() + "\"}}");
        };
    }

    private static RolloutPatches promote(JsonNode rollout) {
        JsonNode status = rollout.path("status");
        int next = nextStep(rollout);
        boolean waits = !status.path("pauseConditions").isEmpty();
        ObjectNode patch = null;
        ObjectNode unified = Fields
                .parse("{\"spec\":{\"paused\":false},\"status\":{\"pauseConditions\":null}}");
        if (waits && status.path("controllerPause").asBoolean() && inconclusive(status)) {
            patch = Fields.parse("{\"status\":{\"pauseConditions\":null,\"controllerPause\":false}}");
            step(patch, next);
        } else if (waits) {
            patch = Fields.parse("{\"status\":{\"pauseConditions\":null}}");
        } else if (next >= 0) {
            patch = Fields.parse("{\"status\":{\"pauseConditions\":null}}");
            step(patch, next);
            step(unified, next);
        }
        return new RolloutPatches(patch, unpause(rollout), unified);
    }

    private static RolloutPatches promoteFull(JsonNode rollout) {
        JsonNode status = rollout.path("status");
        boolean updating = !status.path("currentPodHash")
                .asText("")
                .equals(status.path("stableRS").asText(""));
        return new RolloutPatches(updating ? Fields.parse("{\"status\":{\"promoteFull\":true}}") : null,
                unpause(rollout),
                Fields.parse("{\"spec\":{\"paused\":false},\"status\":{\"promoteFull\":true}}"));
    }

    private static RolloutPatches skip(JsonNode rollout) {
        JsonNode strategy = rollout.path("spec").path("strategy");
        if (strategy.has("blueGreen")) {
            throw HandlerException.of(Reason.CONFLICT,
                    "Cannot skip steps of a bluegreen rollout. Run without a flags");
        }
        int next = nextStep(rollout);
        if (next < 0) {
            throw HandlerException.of(Reason.CONFLICT, "Cannot skip steps of a rollout without steps");
        }
        return ofStatus("{\"status\":{\"currentStepIndex\":" + next + "}}");
    }

    /** The step after the current one, at most the number of steps; -1 without steps. */
    private static int nextStep(JsonNode rollout) {
        int steps = rollout.path("spec").path("strategy").path("canary").path("steps").size();
        int current = rollout.path("status").path("currentStepIndex").asInt(0);
        return steps == 0 ? -1 : current < steps ? current + 1 : current;
    }

    private static boolean inconclusive(JsonNode status) {
        return status.path("canary")
                .path("currentStepAnalysisRunStatus")
                .path("status")
                .asText("")
                .equals("Inconclusive");
    }

    private static void step(ObjectNode patch, int next) {
        if (next >= 0) {
            patch.withObject("/status").put("currentStepIndex", next);
        }
    }

    private static @Nullable ObjectNode unpause(JsonNode rollout) {
        return rollout.path("spec").path("paused").asBoolean()
                ? Fields.parse("{\"spec\":{\"paused\":false}}")
                : null;
    }

    private static RolloutPatches ofStatus(String patch) {
        return new RolloutPatches(Fields.parse(patch), null, Fields.parse(patch));
    }

    private static RolloutPatches ofSpec(String patch) {
        return new RolloutPatches(null, Fields.parse(patch), Fields.parse(patch));
    }
}
