package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.RemoteApi;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Steers workflows through the API of the Argo server, which also has archived and offloaded ones. It binds
 * changes to no {@code resourceVersion}, so the workflow is judged again just before the change if it is
 * newer than the judged one ({@link Judged#again}).
 */
final class WorkflowServer implements WorkflowSteering {
    private final RemoteApi argo;

    WorkflowServer(RemoteApi argo) {
        this.argo = argo;
    }

    @Override
    public Mono<JsonNode> workflow(ObjectKey key) {
        return argo.read(path(key));
    }

    @Override
    public Mono<JsonNode> change(WorkflowChange change, ObjectKey key, Judged judged,
            AuthenticatedCaller caller) {
        return judged.again(workflow(key))
                .then(argo.call("PUT", path(key) + "/" + change.verb(), RemoteApi.JSON,
                        Fields.object().put("namespace", key.namespace()).put("name", key.name())));
    }

    @Override
    public Mono<Flux<byte[]>> log(ObjectKey key, LogQuery query) {
        var parameters = new StringBuilder("?logOptions.container=").append(query.container())
                .append("&logOptions.follow=")
                .append(query.follow());
        if (query.pod() != null) {
            parameters.append("&podName=").append(query.pod());
        }
        if (query.tailLines() != null) {
            parameters.append("&logOptions.tailLines=").append(query.tailLines());
        }
        return argo.stream(path(key) + "/log" + parameters, RemoteApi.EVENTS);
    }

    @Override
    public Mono<Flux<byte[]>> events(String namespace) {
        return argo.stream("/api/v1/workflow-events/" + namespace, RemoteApi.EVENTS);
    }

    private static String path(ObjectKey key) {
        return "/api/v1/workflows/" + key.namespace() + "/" + key.name();
    }
}
