package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/**
 * The servers of Argo Workflows, Argo CD and Argo Rollouts on one free port of 127.0.0.1, with their real
 * paths, errors and streams. They use the objects of a {@link ClusterStandIn}. Requires a bearer token and
 * records requested changes. Safe for use by any thread.
 */
public final class ArgoStandIn {
    private static final int MAX_CHANGES = 1_000;
    private static final Pattern EVENTS = Pattern.compile("/api/v1/workflow-events/([a-z0-9-]+)");
    private static final Pattern LOG = Pattern.compile("/api/v1/workflows/([a-z0-9-]+)/([a-z0-9.-]+)/log");
    private static final Pattern APPLICATION_LOG = Pattern.compile("/api/v1/applications/([a-z0-9.-]+)/logs");
    private static final Pattern ONE = Pattern
            .compile("/api/v1/(workflows|rollouts)/([a-z0-9-]+)/([a-z0-9.-]+)(?:/([a-z]+))?");
    private static final Pattern APPLICATION = Pattern
            .compile("/api/v1/applications/([a-z0-9.-]+)(?:/([a-z]+))?");

    private final ClusterStandIn cluster;
    private final ArgoVerbs verbs;
    private final String token;
    private final List<String> changes = new ArrayList<>();
    private final StandInListener listener = new StandInListener();

    private ArgoStandIn(ClusterStandIn cluster, String token) {
        this.cluster = cluster;
        this.verbs = new ArgoVerbs(cluster);
        this.token = token;
    }

    /** Starts the listener. The caller stops it. */
    public static Mono<ArgoStandIn> start(LoopResources loops, ClusterStandIn cluster, String token) {
        return Mono.defer(() -> {
            var argo = new ArgoStandIn(cluster, token);
            return argo.listener.bind(loops, argo::answer).thenReturn(argo);
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

    /** The requested changes, for example {@code PUT /api/v1/workflows/argo/build/stop}, the newest last. */
    public List<String> changes() {
        synchronized (changes) {
            return List.copyOf(changes);
        }
    }

    private Publisher<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        if (!("Bearer " + token).equals(request.requestHeaders().get("Authorization"))) {
            GrpcError refused = GrpcError.unauthenticated();
            return ClusterStandIn.send(response, refused.status(), refused.json());
        }
        String path = request.uri().replaceAll("\\?.*", "");
        var query = new QueryStringDecoder(request.uri());
        if (request.method().name().equals("GET")
                && (EVENTS.matcher(path).matches() || LOG.matcher(path).matches()
                        || APPLICATION_LOG.matcher(path).matches())) {
            boolean sse = request.requestHeaders().get("Accept", "").contains("text/event-stream");
            return stream(response, entries(path, query), sse);
        }
        return request.receive()
                .aggregate()
                .asString()
                .defaultIfEmpty("")
                .flatMap(body -> Mono
                        .fromCallable(() -> call(request.method().name(), path, query, Crud.parse(body)))
                        .subscribeOn(Schedulers.boundedElastic())
                        .flatMap(answer -> Mono.from(ClusterStandIn.send(response, 200, answer)))
                        .onErrorResume(GrpcError.class,
                                error -> Mono
                                        .from(ClusterStandIn.send(response, error.status(), error.json()))));
    }

    private JsonNode call(String method, String path, QueryStringDecoder query, ObjectNode body) {
        if (!method.equals("GET")) {
            synchronized (changes) {
                changes.add(method + " " + path);
                if (changes.size() > MAX_CHANGES) {
                    changes.removeFirst();
                }
            }
        }
        Matcher one = ONE.matcher(path);
        if (one.matches()) {
            String verb = one.group(4);
            boolean workflow = one.group(1).equals("workflows");
            return verb == null
                    ? verbs.read(workflow ? "Workflow" : "Rollout", one.group(2), one.group(3))
                    : workflow
                            ? verbs.workflow(verb, one.group(2), one.group(3))
                            : verbs.rollout(verb, one.group(2), one.group(3), body);
        }
        Matcher application = APPLICATION.matcher(path);
        if (application.matches()) {
            String namespace = method.equals("POST")
                    ? body.path("appNamespace").asText("argocd")
                    : first(query, "appNamespace", "argocd");
            String verb = application.group(2);
            return verb == null
                    ? verbs.read("Application", namespace, application.group(1))
                    : verbs.application(method + " " + verb, namespace, application.group(1), body);
        }
        throw GrpcError.notFound("Not Found");
    }

    private Flux<JsonNode> entries(String path, QueryStringDecoder query) {
        Matcher events = EVENTS.matcher(path);
        if (events.matches()) {
            return cluster.watch(ClusterStandIn.path("Workflow", events.group(1)) + "?watch=true")
                    .subscribeOn(Schedulers.boundedElastic())
                    .map(Crud::parse);
        }
        Matcher log = LOG.matcher(path);
        if (log.matches()) {
            boolean follow = first(query, "logOptions.follow", "").equals("true");
            return pods(log.group(1), "workflows.argoproj.io/workflow", log.group(2))
                    .flatMap(pod -> cluster.log(log.group(1), pod)
                            .read(follow, Integer.MAX_VALUE)
                            .map(line -> Crud.parse("{}").put("content", line).put("podName", pod)));
        }
        Matcher application = APPLICATION_LOG.matcher(path);
        if (!application.matches()) {
            return Flux.empty();
        }
        boolean follow = first(query, "follow", "").equals("true");
        return Flux.defer(() -> {
            JsonNode found = verbs.read("Application", first(query, "appNamespace", "argocd"),
                    application.group(1));
            String namespace = found.path("spec").path("destination").path("namespace").asText();
            return pods(namespace, "app.kubernetes.io/instance", application.group(1))
                    .flatMap(pod -> cluster.log(namespace, pod)
                            .read(follow, Integer.MAX_VALUE)
                            .map(line -> (JsonNode) Crud.parse("{\"last\":false}")
                                    .put("content", line)
                                    .put("podName", pod)))
                    .concatWithValues(Crud.parse("{\"last\":true,\"content\":\"\",\"podName\":\"\"}"));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    private Flux<String> pods(String namespace, String label, String value) {
        return Mono.fromCallable(() -> cluster.list("Pod", namespace))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMapIterable(pods -> pods)
                .filter(pod -> pod.path("metadata").path("labels").path(label).asText().equals(value))
                .map(pod -> pod.path("metadata").path("name").asText());
    }

    private static String first(QueryStringDecoder query, String name, String otherwise) {
        return query.parameters().getOrDefault(name, List.of(otherwise)).getFirst();
    }

    /**
     * Streams entries as gRPC gateways do: one line of JSON each, or server-sent events for clients that
     * accept them.
     */
    private static Publisher<Void> stream(HttpServerResponse response, Flux<JsonNode> entries, boolean sse) {
        return response.header("Content-Type", sse ? "text/event-stream" : "application/json")
                .send(entries.map(entry -> {
                    String result = Crud.parse("{}").set("result", entry).toString();
                    return ByteBufUtil.writeUtf8(response.alloc(),
                            sse ? "data: " + result + "\n\n" : result + "\n");
                }), entry -> true);
    }
}
