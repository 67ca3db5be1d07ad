package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;

/** The nodes in a workflow's status. */
final class WorkflowNodes {
    private WorkflowNodes() {}

    /** Refuses workflows whose nodes are not in the resource itself. */
    static void checkReadable(JsonNode workflow) {
        JsonNode status = workflow.path("status");
        if (!status.path("compressedNodes").asText("").isEmpty()
                || !status.path("offloadNodeStatusVersion").asText("").isEmpty()) {
            throw HandlerException.of(Reason.CONFLICT,
                    "this workflow keeps its nodes compressed or in a database; set handlers.workflows.argoWorkflows so"
                            + " that the Argo server changes it");
        }
    }

    /**
     * Marks each active Suspend node as succeeded. Missing outputs get their defaults. Returns true if there
     * was any.
     */
    static boolean resume(ObjectNode workflow, String message) {
        boolean any = false;
        for (JsonNode node : workflow.path("status").path("nodes")) {
            if (node instanceof ObjectNode active && active.path("type").asText().equals("Suspend")
                    && active.path("phase").asText().equals("Running")) {
                active.path("outputs").path("parameters").forEach(WorkflowNodes::supplyDefault);
                String before = active.path("message").asText("");
                active.put("phase", "Succeeded")
                        .put("message", before.isEmpty() ? message : before + "; " + message)
                        .put("finishedAt", Fields.now());
                any = true;
            }
        }
        return any;
    }

    private static void supplyDefault(JsonNode parameter) {
        JsonNode from = parameter.path("valueFrom");
        if (!from.has("supplied")) {
            return;
        }
        if (!from.has("default")) {
            throw HandlerException.of(Reason.CONFLICT,
                    "raw output parameter '" + parameter.path("name").asText()
                            + "' has not been set and does not have a default value");
        }
        ObjectNode supplied = (ObjectNode) parameter;
        supplied.set("value", from.path("default"));
        supplied.remove("valueFrom");
    }
}
