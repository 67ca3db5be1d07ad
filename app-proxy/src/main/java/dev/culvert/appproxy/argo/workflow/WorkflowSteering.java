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
 * Reads and changes workflows. Errors of all: {@link ApiFailure}, HandlerException for what the state
 * forbids.
 */
interface WorkflowSteering {
    /** One workflow, as it is now. */
    Mono<JsonNode> workflow(ObjectKey key);

    /** Changes it as it was judged and emits what it is then; for a resubmission, the new one. */
    Mono<JsonNode> change(WorkflowChange change, ObjectKey key, Judged judged, AuthenticatedCaller caller);

    /** Log lines as server-sent events, {@code {"result":{"content","podName"}}} each. */
    Mono<Flux<byte[]>> log(ObjectKey key, LogQuery query);

    /**
     * What happens to a namespace's workflows as server-sent events, {@code {"result":{"type","object"}}}
     * each.
     */
    Mono<Flux<byte[]>> events(String namespace);
}
