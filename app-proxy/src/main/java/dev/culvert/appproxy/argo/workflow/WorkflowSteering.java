package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.ApiFailure;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads and changes workflows. Errors: {@link ApiFailure}, HandlerException when the state forbids the
 * change.
 */
interface WorkflowSteering {
    /** Reads a workflow. */
    Mono<JsonNode> workflow(ObjectKey key);

    /** Changes the judged workflow and emits the changed one; for a resubmission, the new one. */
    Mono<JsonNode> change(WorkflowChange change, ObjectKey key, Judged judged, AuthenticatedCaller caller);

    /** Log lines as server-sent events, each {@code {"result":{"content","podName"}}}. */
    Mono<Flux<byte[]>> log(ObjectKey key, LogQuery query);

    /**
     * Changes of a namespace's workflows as server-sent events, each {@code
     * {"result":{"type","object"}}}.
     */
    Mono<Flux<byte[]>> events(String namespace);
}
