package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * A Kubernetes API server on a free port of 127.0.0.1 that holds objects in memory. Supports reads, writes,
 * merge patches, the status resource of Rollouts, watches and logs of pods. Requires a bearer token, records
 * changes, and runs stand-in controllers after writes. Has no admission, no RBAC and no server-side apply.
 * Safe for use by any thread.
 */
public final class ClusterStandIn {
    private static final int MAX_BODY = 4 << 20;
    private static final int MAX_CHANGES = 1_000;

    private final Crud crud = new Crud();
    private final List<Change> changes = new ArrayList<>();
    private final Map<String, PodLog> logs = new ConcurrentHashMap<>();
    private final AtomicInteger conflicts = new AtomicInteger();
    private final String token;
    private final StandInListener listener = new StandInListener();

    private ClusterStandIn(String token) {
        this.token = token;
    }

    /**
     * A write request over the network.
     *
     * @param type the media type of the body
     * @param body the body as received
     */
    public record Change(String method, String path, String type, String body) {}

    /** Starts the listener. The caller stops it. */
    public static Mono<ClusterStandIn> start(LoopResources loops, String token) {
        return Mono.defer(() -> {
            var cluster = new ClusterStandIn(token);
            return cluster.listener.bind(loops, cluster::answer).thenReturn(cluster);
        });
    }

    /** The URI of the listener. */
    public URI uri() {
        return listener.uri();
    }

    /** Closes the listener and all connections. */
    public Mono<Void> stop() {
        return listener.stop();
    }

    /** Stores an object with its status, as kubectl would. Blocks briefly. */
    public void put(JsonNode object) {
        String path = path(object.path("kind").asText(),
                object.path("metadata").path("namespace").asText("default"));
        Crud.Reply created = write("POST", path, object.toString());
        if (created.success() && object.has("status")) {
            ObjectNode status = Crud.parse("{}");
            status.set("status", object.path("status"));
            write("PATCH", path + "/" + object.path("metadata").path("name").asText() + "/status",
                    status.toString());
        } else if (!created.success()) {
            throw new IllegalArgumentException(created.body().toString());
        }
    }

    /** Changes an object by a JSON merge patch, as kubectl would. Not recorded. Blocks briefly. */
    public void change(String kind, String namespace, String name, String patch) {
        Crud.Reply changed = write("PATCH", path(kind, namespace) + "/" + name, patch);
        if (!changed.success()) {
            throw new IllegalArgumentException(changed.body().toString());
        }
    }

    /** Deletes the object of the same name and stores this one. Not recorded. Blocks briefly. */
    public void replace(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        write("DELETE", path(object.path("kind").asText(), metadata.path("namespace").asText("default")) + "/"
                + metadata.path("name").asText(), "");
        put(object);
    }

    /**
     * The present state of an object. Throws IllegalArgumentException if it does not exist. Blocks briefly.
     */
    public JsonNode get(String kind, String namespace, String name) {
        Crud.Reply reply = crud.call("GET", path(kind, namespace) + "/" + name, "");
        if (!reply.success()) {
            throw new IllegalArgumentException(reply.body().toString());
        }
        return reply.body();
    }

    /** All objects of a namespace. Blocks briefly. */
    public List<JsonNode> list(String kind, String namespace) {
        var all = new ArrayList<JsonNode>();
        crud.call("GET", path(kind, namespace), "").body().path("items").forEach(all::add);
        return all;
    }

    /** The changes over the network, the newest last. */
    public List<Change> changes() {
        synchronized (changes) {
            return List.copyOf(changes);
        }
    }

    /**
     * Answers the next {@code times} changes that name a version with a conflict, as if another client had
     * been faster. Changes of a status are excluded.
     */
    public void conflictNext(int times) {
        conflicts.set(times);
    }

    /** The log of a pod's main container. */
    public PodLog log(String namespace, String pod) {
        return logs.computeIfAbsent(namespace + "/" + pod, key -> new PodLog());
    }

    /** A change by one of the servers in front of the API. Not recorded. */
    Crud.Reply write(String method, String path, String body) {
        Crud.Reply reply = crud.call(method, path, body);
        if (reply.success() && !method.equals("DELETE")) {
            Controllers.react(reply.body())
                    .ifPresent(next -> crud.call("PUT", own(next), next.toString()));
        }
        return reply;
    }

    Crud.Reply read(String path) {
        return crud.call("GET", path, "");
    }

    Flux<String> watch(String path) {
        return crud.watch(path);
    }

    /** The path of a kind's objects. */
    static String path(String kind, String namespace) {
        return kind.equals("Pod")
                ? "/api/v1/namespaces/" + namespace + "/pods"
                : "/apis/" + Crud.GROUP + "/" + Crud.VERSION + "/namespaces/" + namespace + "/"
                        + kind.toLowerCase(Locale.ROOT) + "s";
    }

    private static String own(JsonNode object) {
        JsonNode metadata = object.path("metadata");
        return path(object.path("kind").asText(), metadata.path("namespace").asText()) + "/"
                + metadata.path("name").asText();
    }

    private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        if (!("Bearer " + token).equals(request.requestHeaders().get("Authorization"))) {
            return send(response, 401, Crud.status(401, "Unauthorized", "Unauthorized"));
        }
        String path = request.uri().replaceAll("\\?.*", "");
        var query = new QueryStringDecoder(request.uri());
        if (path.endsWith("/log")) {
            return log(path, query, response);
        }
        if (query.parameters().getOrDefault("watch", List.of("")).getFirst().equals("true")) {
            return stream(response, crud.watch(request.uri()).subscribeOn(Schedulers.boundedElastic()));
        }
        return request.receive()
                .aggregate()
                .asString()
                .defaultIfEmpty("")
                .flatMap(body -> Mono
                        .fromCallable(() -> call(request, body))
                        .subscribeOn(Schedulers.boundedElastic())
                        .flatMap(reply -> Mono.from(send(response, reply.status(), reply.body()))));
    }

    private Crud.Reply call(HttpServerRequest request, String body) {
        String method = request.method().name();
        if (body.length() > MAX_BODY) {
            return new Crud.Reply(413, Crud.status(413, "RequestEntityTooLarge", "too large"));
        }
        if (method.equals("GET")) {
            return crud.call(method, request.uri(), "");
        }
        synchronized (changes) {
            changes.add(new Change(method, request.uri(), request.requestHeaders().get("Content-Type", ""),
                    body));
            if (changes.size() > MAX_CHANGES) {
                changes.removeFirst();
            }
        }
        boolean bound = method.equals("PUT")
                || body.contains("\"resourceVersion\"") && !request.uri().endsWith("/status");
        if (bound && conflicts.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return new Crud.Reply(409, Crud.status(409, "Conflict",
                    "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest"
                            + " version and try again"));
        }
        return write(method, request.uri(), body);
    }

    private Publisher<Void> log(String path, QueryStringDecoder query, HttpServerResponse response) {
        String[] segments = path.split("/", -1);
        PodLog found = logs.get(segments[4] + "/" + segments[6]);
        if (found == null) {
            return send(response, 404,
                    Crud.status(404, "NotFound", "pods \"" + segments[6] + "\" not found"));
        }
        boolean follow = query.parameters().getOrDefault("follow", List.of("")).getFirst().equals("true");
        int tail = Integer
                .parseInt(query.parameters().getOrDefault("tailLines", List.of("1000000")).getFirst());
        return stream(response, found.read(follow, tail));
    }

    private static Publisher<Void> stream(HttpServerResponse response, Flux<String> lines) {
        return response.header("Content-Type", "application/json")
                .send(lines.map(line -> ByteBufUtil.writeUtf8(response.alloc(), line + "\n")), line -> true);
    }

    static Publisher<Void> send(HttpServerResponse response, int status, JsonNode body) {
        return response.status(status)
                .header("Content-Type", "application/json")
                .sendString(Mono.just(body.toString()), StandardCharsets.UTF_8);
    }
}
