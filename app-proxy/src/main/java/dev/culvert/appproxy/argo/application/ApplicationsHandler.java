package dev.culvert.appproxy.argo.application;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.argo.api.ApiFailure;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.PodLogs;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.appproxy.argo.api.Streams;
import dev.culvert.appproxy.argo.workflow.WorkflowsHandler;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Applications of Argo CD: state changes by GraphQL; the logs of their pods at {@code logs} below its mount,
 * as a download, or as server-sent events if the caller accepts them.
 */
final class ApplicationsHandler implements EdgeHandler, GraphQlFunction {
    static final String MOUNT = "/app-proxy/api/applications/";

    private static final String SCHEMA = """
            "An application of Argo CD, as its custom resource has it"
            type Application {
              namespace: String!
              name: String!
              project: String
              syncStatus: String
              healthStatus: String
              revision: String
              "Running, Terminating, Succeeded, Failed or Error; null without an operation"
              operationPhase: String
              operationMessage: String
              history: [ApplicationDeployment!]!
            }
            type ApplicationDeployment {
              id: Int!
              revision: String
              deployedAt: String
            }
            extend type Query {
              application(namespace: String, name: String!): Application
            }
            extend type Mutation {
              "Brings the cluster to what Git says"
              syncApplication(namespace: String, name: String!, revision: String, prune: Boolean, dryRun: Boolean): Application!
              "Ends the operation that runs"
              terminateSync(namespace: String, name: String!): Application!
              "Brings the cluster to an earlier deployment of the history"
              rollbackApplication(namespace: String, name: String!, id: Int!, prune: Boolean, dryRun: Boolean): Application!
            }
            """;

    private final ApplicationSteering steering;
    private final Gate gate;
    private final String home;
    private final Streams streams;

    ApplicationsHandler(ApplicationSteering steering, Gate gate, String home, int maxStreams) {
        this.steering = steering;
        this.gate = gate;
        this.home = home;
        this.streams = new Streams(maxStreams);
    }

    @Override
    public String schema() {
        return SCHEMA;
    }

    @Override
    public Map<String, GraphQlField> fields() {
        return Map.of("Query.application", call -> Mono.defer(() -> read(call)), "Mutation.syncApplication",
                change(arguments -> new ApplicationChange.Sync(text(arguments, "revision"),
                        flag(arguments, "prune"),
                        flag(arguments, "dryRun"))),
                "Mutation.terminateSync", change(arguments -> new ApplicationChange.Terminate()),
                "Mutation.rollbackApplication",
                change(arguments -> new ApplicationChange.Rollback(Long.parseLong(text(arguments, "id")),
                        flag(arguments, "prune"), flag(arguments, "dryRun"))));
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return Mono.defer(() -> {
            if (!request.path().equals(MOUNT + "logs")) {
                return Mono.error(HandlerException.of(Reason.NOT_FOUND, "nothing is served at this path"));
            }
            if (!request.method().equals(HttpMethod.GET)) {
                return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET));
            }
            var query = new QueryStringDecoder(request.target(), true);
            String name = LogQuery.first(query.parameters(), "name");
            String namespace = LogQuery.first(query.parameters(), "namespace");
            if (name == null) {
                return Mono.error(
                        HandlerException.of(Reason.BAD_REQUEST, "name: the application's name is needed"));
            }
            var key = new ObjectKey(namespace == null ? home : namespace, name);
            Mono<Flux<PodLogs.Entry>> lines = lines(key, LogQuery.of(query, ""), request);
            return request.headers().get("Accept", "").contains(RemoteApi.EVENTS)
                    ? streams.events(lines.map(entries -> entries.map(entry -> Fields.event(entry.json()))))
                    : streams.download(lines.map(entries -> entries.map(ApplicationsHandler::line)),
                            name + ".log");
        });
    }

    private Mono<Flux<PodLogs.Entry>> lines(ObjectKey key, LogQuery query, EdgeRequest request) {
        return gate.read("VIEW_POD_LOGS", key, request.headers(), steering.application(key))
                .flatMap(application -> steering.log(application, key, query))
                .onErrorMap(ApiFailure.class, gate.told(key));
    }

    private static byte[] line(PodLogs.Entry entry) {
        return (entry.line() + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private GraphQlField change(Function<Map<String, Object>, ApplicationChange> reading) {
        return call -> Mono.defer(() -> {
            ObjectKey key = key(call);
            ApplicationChange change = reading.apply(call.arguments());
            return gate
                    .change(change.action(), key, call.headers(), call.context(), steering.application(key),
                            (application, caller) -> steering.change(change, key, application, caller))
                    .map(ApplicationsHandler::view);
        });
    }

    private Mono<?> read(GraphQlCall call) {
        ObjectKey key = key(call);
        return gate.read("VIEW", key, call.headers(), steering.application(key))
                .map(ApplicationsHandler::view);
    }

    private ObjectKey key(GraphQlCall call) {
        String namespace = text(call.arguments(), "namespace");
        return new ObjectKey(namespace.isEmpty() ? home : namespace, text(call.arguments(), "name"));
    }

    private static String text(Map<String, Object> arguments, String name) {
        Object value = arguments.get(name);
        return value == null ? "" : value.toString();
    }

    private static boolean flag(Map<String, Object> arguments, String name) {
        return Boolean.TRUE.equals(arguments.get(name));
    }

    private static Map<String, Object> view(JsonNode application) {
        JsonNode metadata = application.path("metadata");
        JsonNode status = application.path("status");
        var view = new LinkedHashMap<String, Object>();
        WorkflowsHandler.put(view, "namespace", metadata.path("namespace"));
        WorkflowsHandler.put(view, "name", metadata.path("name"));
        WorkflowsHandler.put(view, "project", application.path("spec").path("project"));
        WorkflowsHandler.put(view, "syncStatus", status.path("sync").path("status"));
        WorkflowsHandler.put(view, "healthStatus", status.path("health").path("status"));
        WorkflowsHandler.put(view, "revision", status.path("sync").path("revision"));
        WorkflowsHandler.put(view, "operationPhase", status.path("operationState").path("phase"));
        WorkflowsHandler.put(view, "operationMessage", status.path("operationState").path("message"));
        var history = new ArrayList<Map<String, Object>>();
        status.path("history").forEach(deployed -> history.add(deployment(deployed)));
        view.put("history", history);
        return view;
    }

    private static Map<String, Object> deployment(JsonNode deployed) {
        var view = new LinkedHashMap<String, Object>();
        view.put("id", deployed.path("id").asInt());
        WorkflowsHandler.put(view, "revision", deployed.path("revision"));
        WorkflowsHandler.put(view, "deployedAt", deployed.path("deployedAt"));
        return view;
    }
}
