package dev.culvert.appproxy.argo.workflow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.argo.api.ApiFailure;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.Streams;
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
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Workflows: state changes by GraphQL; logs and events as streams at {@code {namespace}/{name}/log} and
 * {@code events/{namespace}} below its mount.
 */
public final class WorkflowsHandler implements EdgeHandler, GraphQlFunction {
    static final String MOUNT = "/app-proxy/api/workflows/";

    private static final String SCHEMA = """
            "A workflow of Argo Workflows, as its custom resource has it"
            type Workflow {
              namespace: String!
              name: String!
              "Pending, Running, Succeeded, Failed or Error; null before the controller has seen it"
              phase: String
              message: String
              "Terminate or Stop once somebody asked for that"
              shutdown: String
              suspended: Boolean!
              startedAt: String
              finishedAt: String
              progress: String
              resourceVersion: String
            }
            extend type Query {
              workflow(namespace: String!, name: String!): Workflow
            }
            extend type Mutation {
              "Ends it at once; exit handlers do not run"
              terminateWorkflow(namespace: String!, name: String!): Workflow!
              "Ends it; exit handlers run"
              stopWorkflow(namespace: String!, name: String!): Workflow!
              "Starts no new steps until it is resumed"
              suspendWorkflow(namespace: String!, name: String!): Workflow!
              "Goes on; steps that wait for this succeed"
              resumeWorkflow(namespace: String!, name: String!): Workflow!
              "Runs what failed again; the phase must be Failed or Error"
              retryWorkflow(namespace: String!, name: String!): Workflow!
              "Makes a new workflow from it, and answers that one"
              resubmitWorkflow(namespace: String!, name: String!): Workflow!
            }
            """;

    private final WorkflowSteering steering;
    private final Gate gate;
    private final Streams streams;

    WorkflowsHandler(WorkflowSteering steering, Gate gate, int maxStreams) {
        this.steering = steering;
        this.gate = gate;
        this.streams = new Streams(maxStreams);
    }

    @Override
    public String schema() {
        return SCHEMA;
    }

    @Override
    public Map<String, GraphQlField> fields() {
        var fields = new LinkedHashMap<String, GraphQlField>();
        for (WorkflowChange change : WorkflowChange.values()) {
            fields.put("Mutation." + change.name().toLowerCase(Locale.ROOT) + "Workflow",
                    call -> Mono.defer(() -> change(change, call)));
        }
        fields.put("Query.workflow", call -> Mono.defer(() -> read(call)));
        return fields;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return Mono.defer(() -> {
            if (!request.method().equals(HttpMethod.GET)) {
                return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET));
            }
            var query = new QueryStringDecoder(request.target(), true);
            String[] segments = request.path().length() < MOUNT.length()
                    ? new String[0]
                    : request.path().substring(MOUNT.length()).split("/", -1);
            if (segments.length == 2 && segments[0].equals("events")) {
                return streams.events(events(segments[1], request));
            }
            if (segments.length == 3 && segments[2].equals("log")) {
                return streams.events(
                        log(new ObjectKey(segments[0], segments[1]), LogQuery.of(query, "main"), request));
            }
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "nothing is served at this path"));
        });
    }

    private Mono<?> change(WorkflowChange change, GraphQlCall call) {
        ObjectKey key = key(call);
        return gate.change(change.name(), key, call.headers(), call.context(), steering.workflow(key),
                (workflow, caller) -> steering.change(change, key, workflow, caller))
                .map(WorkflowsHandler::view);
    }

    private Mono<?> read(GraphQlCall call) {
        ObjectKey key = key(call);
        return gate.read("VIEW", key, call.headers(), steering.workflow(key)).map(WorkflowsHandler::view);
    }

    private Mono<Flux<byte[]>> events(String namespace, EdgeRequest request) {
        ObjectKey.checkNamespace(namespace);
        return gate.allow("VIEW", namespace, request.headers())
                .then(steering.events(namespace))
                .onErrorMap(ApiFailure.class, failure -> failure.told("namespace " + namespace));
    }

    private Mono<Flux<byte[]>> log(ObjectKey key, LogQuery query, EdgeRequest request) {
        return gate.read("ACCESS_LOGS", key, request.headers(), steering.workflow(key))
                .then(steering.log(key, query).onErrorMap(ApiFailure.class, gate.told(key)));
    }

    public static ObjectKey key(GraphQlCall call) {
        return new ObjectKey(String.valueOf(call.arguments().get("namespace")),
                String.valueOf(call.arguments().get("name")));
    }

    private static Map<String, Object> view(JsonNode workflow) {
        JsonNode metadata = workflow.path("metadata");
        JsonNode status = workflow.path("status");
        var view = new LinkedHashMap<String, Object>();
        put(view, "namespace", metadata.path("namespace"));
        put(view, "name", metadata.path("name"));
        put(view, "phase", status.path("phase"));
        put(view, "message", status.path("message"));
        put(view, "shutdown", workflow.path("spec").path("shutdown"));
        view.put("suspended", workflow.path("spec").path("suspend").asBoolean());
        put(view, "startedAt", status.path("startedAt"));
        put(view, "finishedAt", status.path("finishedAt"));
        put(view, "progress", status.path("progress"));
        put(view, "resourceVersion", metadata.path("resourceVersion"));
        return view;
    }

    /** Adds a text that is there. */
    public static void put(Map<String, Object> view, String name, JsonNode text) {
        if (text.isTextual() && !text.asText().isEmpty()) {
            view.put(name, text.asText());
        }
    }
}
