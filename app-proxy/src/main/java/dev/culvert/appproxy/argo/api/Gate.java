package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Guards objects: authenticates the caller, checks permission, then runs the work. The object is read first,
 * with the App-Proxy's own credentials, because rules test its labels. A caller without permission learns
 * nothing of it, not even whether it exists.
 *
 * @param kind the kind of the objects
 * @param entity the name of the kind in rules
 * @param cluster the name of the cluster in rules
 * @param runtime the runtime, or null when it is not known
 */
public record Gate(Access access, Kind kind, String entity, String cluster, @Nullable String runtime) {

    /** The work on an object, after the permission check. */
    public interface Work {
        Mono<JsonNode> on(Judged object, AuthenticatedCaller caller);
    }

    /** Changes an object, audited. Errors: {@link HandlerException}. */
    public Mono<JsonNode> change(String action, ObjectKey key, HttpHeaders headers, RequestContext context,
            Mono<JsonNode> read, Work work) {
        return access.caller(headers)
                .flatMap(caller -> read.map(Found::of)
                        .onErrorResume(ApiFailure.class, failure -> Mono.just(Found.missing(failure)))
                        .flatMap(found -> access.change(caller, operation(action, key, found.object()),
                                context,
                                Mono.defer(() -> found.failure() == null
                                        ? work.on(judged(action, key, found.object(), caller), caller)
                                        : Mono.error(found.failure()))
                                        .onErrorMap(ApiFailure.class, told(key)))));
    }

    /** Reads an object. Errors: {@link HandlerException}. */
    public Mono<JsonNode> read(String action, ObjectKey key, HttpHeaders headers, Mono<JsonNode> read) {
        return access.caller(headers)
                .flatMap(caller -> read.map(Found::of)
                        .onErrorResume(ApiFailure.class, failure -> Mono.just(Found.missing(failure)))
                        .flatMap(found -> access.allow(caller, operation(action, key, found.object()))
                                .then(Mono.defer(() -> found.failure() == null
                                        ? Mono.just(found.object())
                                        : Mono.error(found.failure())))
                                .onErrorMap(ApiFailure.class, told(key))));
    }

    private Judged judged(String action, ObjectKey key, JsonNode object, AuthenticatedCaller caller) {
        return new Judged(object, newer -> access.allow(caller, operation(action, key, newer)));
    }

    /**
     * Completes when the caller has this permission for all objects of a namespace. Errors: {@link
     * HandlerException}.
     */
    public Mono<Void> allow(String action, String namespace, HttpHeaders headers) {
        return access.caller(headers)
                .flatMap(caller -> access.allow(caller, new Operation(action, entity, namespace + "/*",
                        attributes(namespace, Map.of()))));
    }

    /** The error for the caller. */
    public Function<ApiFailure, Throwable> told(ObjectKey key) {
        return failure -> failure.told(kind.singular() + " " + key);
    }

    private Operation operation(String action, ObjectKey key, JsonNode object) {
        var labels = new TreeMap<String, String>();
        object.path("metadata")
                .path("labels")
                .properties()
                .forEach(label -> labels.put(label.getKey(), label.getValue().asText()));
        return new Operation(action, entity, key.toString(), attributes(key.namespace(), labels));
    }

    private Map<String, String> attributes(String namespace, Map<String, String> labels) {
        var attributes = new LinkedHashMap<String, String>();
        attributes.put("namespace", namespace);
        attributes.put("cluster", cluster);
        if (runtime != null) {
            attributes.put("runtime", runtime);
        }
        if (!labels.isEmpty()) {
            attributes.put("label", String.join(",",
                    labels.entrySet()
                            .stream()
                            .map(label -> label.getKey() + "=" + label.getValue())
                            .toList()));
        }
        return attributes;
    }

    /** The object, or why it could not be read. */
    private record Found(JsonNode object, @Nullable ApiFailure failure) {
        static Found of(JsonNode object) {
            return new Found(object, null);
        }

        static Found missing(ApiFailure failure) {
            return new Found(MissingNode.getInstance(), failure);
        }
    }
}
