package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.PodLogs;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.appproxy.argo.api.Resources;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Changes workflows by their custom resources, as Argo's own tools do without a server: by a merge patch for
 * one field, by a whole update for nodes, both under the version that was judged.
 */
final class WorkflowResources implements WorkflowSteering {
    private static final Set<String> DONE = Set.of("Succeeded", "Failed", "Error");

    private final Resources resources;
    private final PodLogs logs;

    WorkflowResources(RemoteApi kubernetes) {
        this.resources = new Resources(kubernetes, Kind.WORKFLOW);
        this.logs = new PodLogs(kubernetes);
    }

    /** Whether the workflow has come to its end. */
    static boolean done(JsonNode workflow) {
        return DONE.contains(workflow.path("status").path("phase").asText(""));
    }

    @Override
    public Mono<JsonNode> workflow(ObjectKey key) {
        return resources.read(key);
    }

    @Override
    public Mono<JsonNode> change(WorkflowChange change, ObjectKey key, Judged judged,
            AuthenticatedCaller caller) {
        return resources.insist(key, judged, current -> change(change, key, current.object(), caller));
    }

    private Mono<JsonNode> change(WorkflowChange change, ObjectKey key, JsonNode workflow,
            AuthenticatedCaller caller) {
        return switch (change) {
            case TERMINATE -> shutDown("Terminate", change, key, caller, workflow);
            case STOP -> shutDown("Stop", change, key, caller, workflow);
            case SUSPEND -> suspend(key, caller, workflow);
            case RESUME -> resume(key, caller, workflow);
            case RETRY -> retry(key, caller, workflow);
            case RESUBMIT -> resources.create(key.namespace(), WorkflowCopy.of(workflow, caller));
        };
    }

    @Override
    public Mono<Flux<byte[]>> log(ObjectKey key, LogQuery query) {
        Mono<Void> end = resources.watch(key.namespace(), "fieldSelector=metadata.name%3D" + key.name())
                .filter(event -> event.path("type").asText().equals("DELETED") || done(event.path("object")))
                .next()
                .then();
        return Mono.just(
                logs.ofPods(key.namespace(), "workflows.argoproj.io/workflow%3D" + key.name(), query, end)
                        .map(entry -> Fields.event(entry.json())));
    }

    @Override
    public Mono<Flux<byte[]>> events(String namespace) {
        return resources.open(namespace, "").map(events -> events.map(Fields::event));
    }

    private Mono<JsonNode> shutDown(String strategy, WorkflowChange change, ObjectKey key,
            AuthenticatedCaller caller,
            JsonNode workflow) {
        if (done(workflow)) {
            return refused("cannot shutdown a completed workflow: workflow: \"" + key.name()
                    + "\", namespace: \"" + key.namespace() + "\"");
        }
        return resources.patch(key, workflow, patch("shutdown", caller, change, strategy));
    }

    private Mono<JsonNode> suspend(ObjectKey key, AuthenticatedCaller caller, JsonNode workflow) {
        if (done(workflow)) {
            return refused("cannot suspend completed workflows");
        }
        if (workflow.path("spec").path("suspend").asBoolean()) {
            return Mono.just(workflow);
        }
        ObjectNode patch = patch("suspend", caller, WorkflowChange.SUSPEND, "");
        patch.withObject("/spec").put("suspend", true);
        return resources.patch(key, workflow, patch);
    }

    /** Suspended as a whole, or at nodes of type Suspend: those count as succeeded from now on. */
    private Mono<JsonNode> resume(ObjectKey key, AuthenticatedCaller caller, JsonNode workflow) {
        WorkflowNodes.checkReadable(workflow);
        ObjectNode resumed = workflow.deepCopy();
        boolean changed = WorkflowNodes.resume(resumed, "Resumed by: " + caller.id());
        if (resumed.path("spec").path("suspend").asBoolean()) {
            resumed.withObject("/spec").remove("suspend");
            changed = true;
        }
        if (!changed) {
            return Mono.just(workflow);
        }
        Fields.actor(resumed.withObject("/metadata").withObject("/labels"), caller,
                WorkflowChange.RESUME.label());
        return resources.replace(key, resumed);
    }

    /**
     * The pods of failed nodes are deleted before the nodes are: the controller would adopt them otherwise. A
     * delete of a pod can't be bound to the workflow's version, so the labels are written first: that fails
     * when the workflow is newer.
     */
    private Mono<JsonNode> retry(ObjectKey key, AuthenticatedCaller caller, JsonNode workflow) {
        WorkflowRetry.of(workflow);
        ObjectNode claim = Fields.object();
        Fields.actor(claim.putObject("metadata").putObject("labels"), caller, WorkflowChange.RETRY.label());
        return resources.patch(key, workflow, claim).flatMap(claimed -> {
            WorkflowRetry retry = WorkflowRetry.of(claimed);
            return Flux.fromIterable(retry.podsToDelete())
                    .flatMap(pod -> logs.delete(new ObjectKey(key.namespace(), pod)), 8)
                    .then(resources.replace(key, retry.workflow()));
        });
    }

    private static ObjectNode patch(String field, AuthenticatedCaller caller, WorkflowChange change,
            String value) {
        ObjectNode patch = Fields.object();
        patch.putObject("spec").put(field, value);
        Fields.actor(patch.putObject("metadata").putObject("labels"), caller, change.label());
        return patch;
    }

    private static Mono<JsonNode> refused(String text) {
        return Mono.error(HandlerException.of(Reason.CONFLICT, text));
    }
}
