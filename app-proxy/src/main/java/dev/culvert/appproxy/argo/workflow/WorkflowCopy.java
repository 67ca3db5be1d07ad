package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.Fields;
import java.util.Set;

/** Makes the workflow that a resubmission creates. */
final class WorkflowCopy {
    private static final String PREFIX = "workflows.argoproj.io/";

    /** Labels of the run that is over; the creator's are given anew. */
    private static final Set<String> DROPPED = Set.of(PREFIX + "creator", PREFIX + "creator-email",
            PREFIX + "creator-preferred-username", PREFIX + "phase", PREFIX + "completed",
            PREFIX + "workflow-archiving-status", Fields.ACTOR, Fields.ACTOR_EMAIL, Fields.ACTION);

    private WorkflowCopy() {}

    /** A new one with a generated name, the same spec, labels, annotations and owners, and no status. */
    static ObjectNode of(JsonNode workflow, AuthenticatedCaller caller) {
        JsonNode from = workflow.path("metadata");
        String name = from.path("name").asText();
        ObjectNode copy = Fields.object();
        copy.set("apiVersion", workflow.path("apiVersion"));
        copy.set("kind", workflow.path("kind"));
        ObjectNode metadata = copy.putObject("metadata");
        metadata.put("generateName", from.path("generateName").asText(name + "-"));
        metadata.set("namespace", from.path("namespace"));
        ObjectNode labels = metadata.putObject("labels");
        from.path("labels").properties().forEach(label -> {
            if (!DROPPED.contains(label.getKey())) {
                labels.set(label.getKey(), label.getValue());
            }
        });
        labels.put(PREFIX + "resubmitted-from-workflow", name);
        labels.put(PREFIX + "creator", Fields.labelled(caller.id()));
        labels.put(PREFIX + "creator-email", Fields.labelled(caller.email().replaceFirst("@", ".at.")));
        for (String kept : Set.of("annotations", "ownerReferences")) {
            if (from.has(kept)) {
                metadata.set(kept, from.path(kept).deepCopy());
            }
        }
        ObjectNode spec = workflow.path("spec").deepCopy();
        running(spec);
        copy.set("spec", spec);
        return copy;
    }

    /** Removes the fields of a spec that ended the run. */
    static void running(ObjectNode spec) {
        spec.remove("shutdown");
        if (spec.path("activeDeadlineSeconds").isNumber()
                && spec.path("activeDeadlineSeconds").asLong() == 0) {
            spec.remove("activeDeadlineSeconds");
        }
    }
}
