package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Set;

/**
 * Simulates the reactions of Argo's controllers to a written object, limited to visible state. A workflow
 * starts, and ends when it is shut down. An operation of an application is started and ended.
 */
final class Controllers {
    private static final Set<String> DONE = Set.of("Succeeded", "Failed", "Error");

    private Controllers() {}

    /** The object as the controller would write it, or empty if there is nothing to do. */
    static Optional<ObjectNode> react(JsonNode object) {
        ObjectNode next = object.deepCopy();
        boolean changed = switch (object.path("kind").asText()) {
            case "Workflow" -> workflow(next);
            case "Application" -> application(next);
            default -> false;
        };
        return changed ? Optional.of(next) : Optional.empty();
    }

    private static boolean workflow(ObjectNode workflow) {
        ObjectNode status = workflow.withObject("/status");
        String phase = status.path("phase").asText("");
        String shutdown = workflow.path("spec").path("shutdown").asText("");
        if (DONE.contains(phase)) {
            return false;
        }
        if (!shutdown.isEmpty()) {
            String message = "Stopped with strategy '" + shutdown + "'";
            end(status, message);
            for (JsonNode node : status.path("nodes")) {
                if (node.path("phase").asText().equals("Running")) {
                    end((ObjectNode) node, message);
                }
            }
            if (shutdown.equals("Stop") && workflow.path("spec").has("onExit")) {
                status.withObject("/nodes")
                        .putObject("on-exit")
                        .put("name", workflow.path("metadata").path("name").asText() + ".onExit")
                        .put("type", "Pod")
                        .put("phase", "Succeeded");
            }
            labels(workflow, "Failed", true);
            return true;
        }
        if (phase.isEmpty()) {
            status.put("phase", "Running").put("startedAt", now());
            labels(workflow, "Running", false);
            return true;
        }
        return false;
    }

    private static void end(ObjectNode of, String message) {
        of.put("phase", "Failed").put("message", message).put("finishedAt", now());
    }

    private static void labels(ObjectNode workflow, String phase, boolean completed) {
        workflow.withObject("/metadata")
                .withObject("/labels")
                .put("workflows.argoproj.io/phase", phase)
                .put("workflows.argoproj.io/completed", String.valueOf(completed));
    }

    private static boolean application(ObjectNode application) {
        ObjectNode status = application.withObject("/status");
        JsonNode state = status.path("operationState");
        if (state.path("phase").asText().equals("Terminating")) {
            ((ObjectNode) state).put("phase", "Failed")
                    .put("message", "Operation terminated")
                    .put("finishedAt", now());
            application.remove("operation");
            return true;
        }
        if (application.has("operation") && state.isMissingNode()) {
            status.putObject("operationState")
                    .put("phase", "Running")
                    .put("startedAt", now())
                    .set("operation", application.path("operation"));
            return true;
        }
        return false;
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
