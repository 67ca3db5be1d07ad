package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The retry of a failed workflow. Failed steps, and all steps after them, are removed with their pods. The
 * groups around them run again, and succeeded steps stay.
 *
 * @param workflow to store in place of the old one, under its version
 * @param podsToDelete the names of the pods of removed steps
 */
record WorkflowRetry(ObjectNode workflow, List<String> podsToDelete) {
    private static final Set<String> STEPS = Set.of("Pod", "Container", "HTTP", "Plugin");
    private static final Set<String> GROUPS = Set.of("DAG", "TaskGroup", "StepGroup", "Steps", "Retry");
    private static final Set<String> FAILED = Set.of("Failed", "Error");
    private static final int LONGEST_PREFIX = 242;

    /** The retry of a workflow. Errors: HandlerException CONFLICT unless its phase is Failed or Error. */
    static WorkflowRetry of(JsonNode failed) {
        String phase = failed.path("status").path("phase").asText("");
        if (!FAILED.contains(phase)) {
            throw HandlerException.of(Reason.CONFLICT, phase.equals("Succeeded")
                    ? "To retry a succeeded workflow, set the options restartSuccessful and nodeFieldSelector"
                    : "Cannot retry a workflow in phase " + phase);
        }
        WorkflowNodes.checkReadable(failed);
        ObjectNode workflow = failed.deepCopy();
        startAgain(workflow);
        ObjectNode nodes = workflow.withObject("/status").withObject("/nodes");
        Set<String> gone = gone(nodes, failed.path("metadata").path("name").asText());
        var pods = new ArrayList<String>();
        Set<String> running = around(nodes, gone);
        for (String id : gone) {
            JsonNode node = nodes.path(id);
            if (node.path("type").asText().equals("Pod")) {
                pods.add(podName(failed, node));
            }
        }
        nodes.remove(gone);
        for (Map.Entry<String, JsonNode> entry : nodes.properties()) {
            ObjectNode node = (ObjectNode) entry.getValue();
            without(node, "children", gone);
            without(node, "outboundNodes", gone);
            if (running.contains(entry.getKey())) {
                node.put("phase", "Running")
                        .put("startedAt", Fields.now())
                        .remove(List.of("message", "finishedAt"));
            }
        }
        return new WorkflowRetry(workflow, List.copyOf(pods));
    }

    private static void startAgain(ObjectNode workflow) {
        ObjectNode labels = workflow.withObject("/metadata").withObject("/labels");
        labels.remove(List.of("workflows.argoproj.io/completed",
                "workflows.argoproj.io/workflow-archiving-status"));
        WorkflowCopy.running(workflow.withObject("/spec"));
        ObjectNode status = workflow.withObject("/status");
        status.put("phase", "").put("startedAt", Fields.now());
        status.remove(List.of("message", "finishedAt", "persistentVolumeClaims"));
        if (status.path("storedWorkflowTemplateSpec") instanceof ObjectNode stored) {
            stored.remove("shutdown");
        }
        ArrayNode conditions = status.withArray("conditions");
        for (int i = conditions.size() - 1; i >= 0; i--) {
            if (conditions.get(i).path("type").asText().equals("Completed")) {
                conditions.remove(i);
            }
        }
        conditions.addObject().put("type", "Completed").put("status", "False");
    }

    /** Failed steps after which nothing succeeded, all that came after them, and the exit handler. */
    private static Set<String> gone(ObjectNode nodes, String workflow) {
        var gone = new HashSet<String>();
        for (Map.Entry<String, JsonNode> entry : nodes.properties()) {
            JsonNode node = entry.getValue();
            if (node.path("name").asText().startsWith(workflow + ".onExit")) {
                gone.add(entry.getKey());
            } else if (STEPS.contains(node.path("type").asText())
                    && FAILED.contains(node.path("phase").asText())) {
                Set<String> after = after(nodes, entry.getKey());
                if (after.stream()
                        .noneMatch(id -> nodes.path(id).path("phase").asText().equals("Succeeded"))) {
                    gone.add(entry.getKey());
                    gone.addAll(after);
                }
            }
        }
        return gone;
    }

    private static Set<String> after(ObjectNode nodes, String start) {
        var seen = new HashSet<String>();
        Deque<String> open = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            for (JsonNode child : nodes.path(open.pop()).path("children")) {
                if (seen.add(child.asText())) {
                    open.push(child.asText());
                }
            }
        }
        return seen;
    }

    /** The groups that a step which is gone had failed: above it, or whose template it is part of. */
    private static Set<String> around(ObjectNode nodes, Set<String> gone) {
        var around = new HashSet<String>();
        boolean more = true;
        while (more) {
            more = false;
            for (Map.Entry<String, JsonNode> entry : nodes.properties()) {
                JsonNode node = entry.getValue();
                boolean above = contains(node.path("children"), gone, around)
                        || bounds(nodes, entry.getKey(), gone, around);
                if (above && !gone.contains(entry.getKey()) && GROUPS.contains(node.path("type").asText())
                        && FAILED.contains(node.path("phase").asText())) {
                    more |= around.add(entry.getKey());
                }
            }
        }
        return around;
    }

    private static boolean contains(JsonNode children, Set<String> gone, Set<String> around) {
        for (JsonNode child : children) {
            if (gone.contains(child.asText()) || around.contains(child.asText())) {
                return true;
            }
        }
        return false;
    }

    private static boolean bounds(ObjectNode nodes, String group, Set<String> gone, Set<String> around) {
        return nodes.properties()
                .stream()
                .filter(entry -> gone.contains(entry.getKey()) || around.contains(entry.getKey()))
                .anyMatch(entry -> entry.getValue().path("boundaryID").asText("").equals(group));
    }

    private static void without(ObjectNode node, String list, Set<String> gone) {
        if (node.path(list) instanceof ArrayNode ids) {
            for (int i = ids.size() - 1; i >= 0; i--) {
                if (gone.contains(ids.get(i).asText())) {
                    ids.remove(i);
                }
            }
        }
    }

    /**
     * Version 2 of Argo's names: workflow, template and the FNV-1a hash of the node's name; version 1: the
     * node's id.
     */
    static String podName(JsonNode workflow, JsonNode node) {
        String version = workflow.path("metadata")
                .path("annotations")
                .path("workflows.argoproj.io/pod-name-format")
                .asText("v2");
        String name = workflow.path("metadata").path("name").asText();
        String nodeName = node.path("name").asText();
        if (version.equals("v1")) {
            return node.path("id").asText();
        }
        if (name.equals(nodeName)) {
            return name;
        }
        String template = node.path("templateRef")
                .path("template")
                .asText(node.path("templateName").asText(""));
        String prefix = template.isEmpty() ? name : name + "-" + template;
        return prefix.substring(0, Math.min(prefix.length(), LONGEST_PREFIX)) + "-"
                + Integer.toUnsignedString(fnv1a(nodeName));
    }

    private static int fnv1a(String text) {
        int hash = 0x811c9dc5;
        for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (one & 0xff)) * 0x01000193;
        }
        return hash;
    }
}
