package dev.culvert.appproxy.argo.application;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.ApiFailure;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.LineStream;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.PodLogs;
import dev.culvert.appproxy.argo.api.RemoteApi;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Steers applications through the API of the Argo CD server. That binds changes to no
 * {@code resourceVersion}, so the application is judged again just before the change if it is newer than the
 * judged one ({@link Judged#again}).
 */
final class ApplicationServer implements ApplicationSteering {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int MAX_LINE_BYTES = 2 << 20;

    private final RemoteApi argo;

    ApplicationServer(RemoteApi argo) {
        this.argo = argo;
    }

    @Override
    public Mono<JsonNode> application(ObjectKey key) {
        return argo.read(path(key) + "?appNamespace=" + key.namespace());
    }

    @Override
    public Mono<JsonNode> change(ApplicationChange change, ObjectKey key, Judged judged,
            AuthenticatedCaller caller) {
        return judged.again(application(key)).then(changed(change, key));
    }

    private Mono<JsonNode> changed(ApplicationChange change, ObjectKey key) {
        return switch (change) {
            case ApplicationChange.Sync sync -> {
                ObjectNode body = body(key).put("prune", sync.prune()).put("dryRun", sync.dryRun());
                if (!sync.revision().isEmpty()) {
                    body.put("revision", sync.revision());
                }
                yield argo.call("POST", path(key) + "/sync", RemoteApi.JSON, body);
            }
            case ApplicationChange.Rollback rollback ->
                argo.call("POST", path(key) + "/rollback", RemoteApi.JSON,
                        body(key).put("id", rollback.id())
                                .put("prune", rollback.prune())
                                .put("dryRun", rollback.dryRun()));
            case ApplicationChange.Terminate terminate -> argo
                    .call("DELETE", path(key) + "/operation?appNamespace=" + key.namespace(), RemoteApi.JSON,
                            null)
                    .then(application(key));
        };
    }

    @Override
    public Mono<Flux<PodLogs.Entry>> log(JsonNode application, ObjectKey key, LogQuery query) {
        var path = new StringBuilder(path(key)).append("/logs?appNamespace=")
                .append(key.namespace())
                .append("&follow=")
                .append(query.follow());
        if (query.pod() != null) {
            path.append("&podName=").append(query.pod());
        }
        if (!query.container().isEmpty()) {
            path.append("&container=").append(query.container());
        }
        if (query.tailLines() != null) {
            path.append("&tailLines=").append(query.tailLines());
        }
        return argo.stream(path.toString(), RemoteApi.JSON)
                .map(body -> LineStream.of(body, MAX_LINE_BYTES)
                        .map(ApplicationServer::result)
                        .takeUntil(entry -> entry.path("last").asBoolean())
                        .filter(entry -> !entry.path("last").asBoolean())
                        .map(entry -> new PodLogs.Entry(entry.path("podName").asText(),
                                entry.path("content").asText())));
    }

    private static JsonNode result(String line) {
        try {
            return MAPPER.readTree(line).path("result");
        } catch (JsonProcessingException e) {
            throw new ApiFailure("the Argo CD server", 502, "a line of the log is not JSON");
        }
    }

    private static ObjectNode body(ObjectKey key) {
        return Fields.object().put("name", key.name()).put("appNamespace", key.namespace());
    }

    private static String path(ObjectKey key) {
        return "/api/v1/applications/" + key.name();
    }
}
