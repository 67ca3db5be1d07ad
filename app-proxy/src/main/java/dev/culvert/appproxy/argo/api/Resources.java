package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Custom resources of one kind in the Kubernetes API. Errors of all calls: {@link ApiFailure}. */
public final class Resources {
    /**
     * The number of further tries. A busy object changes a few times a second; after six conflicts in a row
     * the call fails.
     */
    public static final int TRIES_AGAIN = 5;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    /** Etcd takes objects of 1.5 MiB; managed fields and the envelope come on top. */
    private static final int MAX_EVENT_BYTES = 4 << 20;
    private static final JsonMapper MAPPER = new JsonMapper();

    private final RemoteApi kubernetes;
    private final Kind kind;

    public Resources(RemoteApi kubernetes, Kind kind) {
        this.kubernetes = kubernetes;
        this.kind = kind;
    }

    public Mono<JsonNode> read(ObjectKey key) {
        return kubernetes.read(kind.path(key));
    }

    /**
     * A JSON merge patch (RFC 7386) of this version of the object; refused (409) when there is a newer one.
     */
    public Mono<JsonNode> patch(ObjectKey key, JsonNode object, ObjectNode patch) {
        return kubernetes.call("PATCH", kind.path(key), PatchType.JSON_MERGE.getContentType(),
                bound(patch, object));
    }

    /** The same of the status, where that is a resource of its own. */
    public Mono<JsonNode> patchStatus(ObjectKey key, JsonNode object, ObjectNode patch) {
        return kubernetes.call("PATCH", kind.path(key) + "/status", PatchType.JSON_MERGE.getContentType(),
                bound(patch, object));
    }

    private static ObjectNode bound(ObjectNode patch, JsonNode object) {
        patch.withObject("/metadata")
                .set("resourceVersion", object.path("metadata").path("resourceVersion"));
        return patch;
    }

    /** Replaces the object; refused (409) unless it still has the version that the new one was made from. */
    public Mono<JsonNode> replace(ObjectKey key, JsonNode object) {
        return kubernetes.call("PUT", kind.path(key), RemoteApi.JSON, object);
    }

    public Mono<JsonNode> create(String namespace, JsonNode object) {
        return kubernetes.call("POST", kind.path(namespace), RemoteApi.JSON, object);
    }

    /**
     * Changes the object as it was judged. When somebody else was faster, the newer version is read, judged
     * and changed, {@value #TRIES_AGAIN} times at most. Errors: those of the judge, too.
     */
    public Mono<JsonNode> insist(ObjectKey key, Judged judged, Function<Judged, Mono<JsonNode>> change) {
        return Mono.defer(() -> {
            var latest = new AtomicReference<>(judged);
            return Mono.defer(() -> change.apply(latest.get()))
                    .retryWhen(Retry.backoff(TRIES_AGAIN, FIRST_PAUSE)
                            .maxBackoff(LONGEST_PAUSE)
                            .filter(failure -> failure instanceof ApiFailure conflict && conflict.conflict())
                            .doBeforeRetryAsync(signal -> read(key).flatMap(latest.get()::renewed)
                                    .doOnNext(latest::set)
                                    .then())
                            .onRetryExhaustedThrow((retry, signal) -> signal.failure()));
        });
    }

    /**
     * Emits the present objects, then their changes: events {@code {"type","object"}}. Cancelling ends the
     * watch.
     */
    public Flux<JsonNode> watch(String namespace, String query) {
        return open(namespace, query).flatMapMany(Function.identity());
    }

    /** As {@link #watch}, once the API has accepted it. */
    public Mono<Flux<JsonNode>> open(String namespace, String query) {
        return events(kubernetes, kind.path(namespace), query);
    }

    /** A watch at any path. */
    static Mono<Flux<JsonNode>> events(RemoteApi kubernetes, String path, String query) {
        return kubernetes.stream(path + "?watch=true" + (query.isEmpty() ? "" : "&" + query), RemoteApi.JSON)
                .map(body -> LineStream.of(body, MAX_EVENT_BYTES).map(Resources::event));
    }

    private static JsonNode event(String line) {
        try {
            JsonNode event = MAPPER.readTree(line);
            if (event.path("type").asText().equals("ERROR")) {
                JsonNode status = event.path("object");
                throw new ApiFailure("the Kubernetes API", status.path("code").asInt(500),
                        status.path("message").asText(""));
            }
            return event;
        } catch (IOException e) {
            throw new ApiFailure("the Kubernetes API", 502, "an event is not JSON");
        }
    }
}
