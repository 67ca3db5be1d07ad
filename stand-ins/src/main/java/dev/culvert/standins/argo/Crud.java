package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.mockwebserver.dsl.HttpMethod;
import io.fabric8.mockwebserver.http.Buffer;
import io.fabric8.mockwebserver.http.Headers;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * The objects of a cluster in memory: fabric8's CRUD dispatcher with Argo's custom resources, JSON merge
 * patches (RFC 7386) and generated names. Safe for use by any thread; concurrent calls may block each other.
 */
final class Crud {
    static final String GROUP = "argoproj.io";
    static final String VERSION = "v1alpha1";

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final String LETTERS = "bcdfghjklmnpqrstvwxz2456789";

    private final KubernetesCrudDispatcher dispatcher = new KubernetesCrudDispatcher(
            List.of(definition("Workflow", false), definition("Rollout", true),
                    definition("Application", false)));

    /** A response. */
    record Reply(int status, ObjectNode body) {
        boolean success() {
            return status < 300;
        }
    }

    /** One call of the API. */
    Reply call(String method, String path, String body) {
        return switch (method) {
            case "POST" -> dispatch(method, path, named(body).toString());
            case "PATCH" -> patch(path, parse(body));
            default -> dispatch(method, path, body);
        };
    }

    /**
     * The events of a watch as lines of JSON, beginning with the present objects. Cancelling ends the watch.
     */
    Flux<String> watch(String path) {
        return Flux.create(sink -> {
            MockResponse accepted = dispatcher.dispatch(request("GET", path, ""));
            WebSocketListener listener = accepted.getWebSocketListener();
            var socket = new WebSocket() {
                @Override
                public RecordedRequest request() {
                    return Crud.request("GET", path, "");
                }

                @Override
                public boolean send(String text) {
                    sink.next(text);
                    return true;
                }

                @Override
                public boolean send(byte[] bytes) {
                    return false;
                }

                @Override
                public boolean close(int code, String reason) {
                    return true;
                }
            };
            sink.onDispose(
                    () -> Schedulers.boundedElastic()
                            .schedule(() -> listener.onClosed(socket, 1000, "cancelled")));
            listener.onOpen(socket, accepted);
        });
    }

    static ObjectNode parse(String json) {
        try {
            return json.isEmpty() ? MAPPER.createObjectNode() : (ObjectNode) MAPPER.readTree(json);
        } catch (IOException e) {
            throw new UncheckedIOException("not JSON: " + json, e);
        }
    }

    /** The status document that the API server returns instead of an object. */
    static ObjectNode status(int code, String reason, String message) {
        return MAPPER.createObjectNode()
                .put("kind", "Status")
                .put("apiVersion", "v1")
                .put("status", "Failure")
                .put("message", message)
                .put("reason", reason)
                .put("code", code);
    }

    /**
     * Applies a patch. A patch with a version is refused if the object has another version; a patch without
     * one is always applied.
     */
    private Reply patch(String path, ObjectNode patch) {
        String object = path.endsWith("/status") ? path.substring(0, path.lastIndexOf('/')) : path;
        boolean pinned = patch.path("metadata").has("resourceVersion");
        while (true) {
            Reply current = dispatch("GET", object, "");
            if (!current.success()) {
                return current;
            }
            merge(current.body(), patch);
            Reply reply = dispatch("PUT", path, current.body().toString());
            if (reply.status() != 409 || pinned) {
                return reply;
            }
        }
    }

    private static void merge(ObjectNode target, ObjectNode patch) {
        for (Map.Entry<String, JsonNode> entry : patch.properties()) {
            JsonNode value = entry.getValue();
            if (value.isNull()) {
                target.remove(entry.getKey());
            } else if (value instanceof ObjectNode inner) {
                if (!(target.get(entry.getKey()) instanceof ObjectNode)) {
                    target.putObject(entry.getKey());
                }
                merge((ObjectNode) target.get(entry.getKey()), inner);
            } else {
                target.set(entry.getKey(), value);
            }
        }
    }

    private static ObjectNode named(String body) {
        ObjectNode object = parse(body);
        ObjectNode metadata = object.withObject("/metadata");
        if (!metadata.has("name") && metadata.has("generateName")) {
            var name = new StringBuilder(metadata.path("generateName").asText());
            for (int i = 0; i < 5; i++) {
                name.append(LETTERS.charAt(ThreadLocalRandom.current().nextInt(LETTERS.length())));
            }
            metadata.put("name", name.toString());
        }
        return object;
    }

    private Reply dispatch(String method, String path, String body) {
        MockResponse response = dispatcher.dispatch(request(method, path, body));
        Buffer answer = response.getBody();
        String text = answer == null ? "" : answer.readUtf8();
        if (response.code() == 404 && text.isEmpty()) {
            return new Reply(404, status(404, "NotFound",
                    path.replaceAll(".*/([^/]+)/([^/]+)$", "$1 \"$2\"") + " not found"));
        }
        return new Reply(response.code() == 202 ? 200 : response.code(), parse(text));
    }

    private static RecordedRequest request(String method, String path, String body) {
        return new RecordedRequest("HTTP/1.1", HttpMethod.valueOf(method), path,
                Headers.builder().add("Content-Type", "application/json").build(),
                new Buffer().writeUtf8(body));
    }

    private static CustomResourceDefinitionContext definition(String kind, boolean ownStatus) {
        String plural = kind.toLowerCase(Locale.ROOT) + "s";
        return new CustomResourceDefinitionContext.Builder().withGroup(GROUP)
                .withVersion(VERSION)
                .withKind(kind)
                .withPlural(plural)
                .withName(plural + "." + GROUP)
                .withScope("Namespaced")
                .withStatusSubresource(ownStatus)
                .build();
    }
}
