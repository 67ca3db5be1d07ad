package dev.culvert.appproxy.argo.rollout;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.workflow.WorkflowsHandler;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.util.LinkedHashMap;
import java.util.Map;
import reactor.core.publisher.Mono;

/** Rollouts: state changes by GraphQL. */
final class RolloutsHandler implements EdgeHandler, GraphQlFunction {
    private static final String SCHEMA = """
            "A rollout of Argo Rollouts, as its custom resource has it"
            type Rollout {
              namespace: String!
              name: String!
              phase: String
              message: String
              "Paused by a user"
              paused: Boolean!
              "Waits at a pause of its steps"
              waiting: Boolean!
              aborted: Boolean!
              promoteFull: Boolean!
              currentStepIndex: Int
              steps: Int!
              restartAt: String
            }
            extend type Query {
              rollout(namespace: String!, name: String!): Rollout
            }
            extend type Mutation {
              "Goes on from a pause, or to the next step"
              promoteRollout(namespace: String!, name: String!): Rollout!
              "Goes to the end without pauses and analyses"
              promoteRolloutFull(namespace: String!, name: String!): Rollout!
              skipRolloutStep(namespace: String!, name: String!): Rollout!
              "Goes back to the stable version"
              abortRollout(namespace: String!, name: String!): Rollout!
              pauseRollout(namespace: String!, name: String!): Rollout!
              resumeRollout(namespace: String!, name: String!): Rollout!
              "Tries again what was aborted"
              retryRollout(namespace: String!, name: String!): Rollout!
              "Replaces all pods"
              restartRollout(namespace: String!, name: String!): Rollout!
            }
            """;

    private final RolloutSteering steering;
    private final Gate gate;

    RolloutsHandler(RolloutSteering steering, Gate gate) {
        this.steering = steering;
        this.gate = gate;
    }

    @Override
    public String schema() {
        return SCHEMA;
    }

    @Override
    public Map<String, GraphQlField> fields() {
        var fields = new LinkedHashMap<String, GraphQlField>();
        for (RolloutChange change : RolloutChange.values()) {
            fields.put("Mutation." + change.field(), call -> Mono.defer(() -> change(change, call)));
        }
        fields.put("Query.rollout", call -> Mono.defer(() -> read(call)));
        return fields;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return Mono.error(HandlerException.of(Reason.NOT_FOUND, "rollouts are reached through GraphQL"));
    }

    private Mono<?> change(RolloutChange change, GraphQlCall call) {
        ObjectKey key = WorkflowsHandler.key(call);
        return gate.change(change.action(), key, call.headers(), call.context(), steering.rollout(key),
                (rollout, caller) -> steering.change(change, key, rollout)).map(RolloutsHandler::view);
    }

    private Mono<?> read(GraphQlCall call) {
        ObjectKey key = WorkflowsHandler.key(call);
        return gate.read("VIEW", key, call.headers(), steering.rollout(key)).map(RolloutsHandler::view);
    }

    private static Map<String, Object> view(JsonNode rollout) {
        JsonNode metadata = rollout.path("metadata");
        JsonNode spec = rollout.path("spec");
        JsonNode status = rollout.path("status");
        var view = new LinkedHashMap<String, Object>();
        WorkflowsHandler.put(view, "namespace", metadata.path("namespace"));
        WorkflowsHandler.put(view, "name", metadata.path("name"));
        WorkflowsHandler.put(view, "phase", status.path("phase"));
        WorkflowsHandler.put(view, "message", status.path("message"));
        WorkflowsHandler.put(view, "restartAt", spec.path("restartAt"));
        view.put("paused", spec.path("paused").asBoolean());
        view.put("waiting", !status.path("pauseConditions").isEmpty());
        view.put("aborted", status.path("abort").asBoolean());
        view.put("promoteFull", status.path("promoteFull").asBoolean());
        view.put("steps", spec.path("strategy").path("canary").path("steps").size());
        if (status.path("currentStepIndex").isInt()) {
            view.put("currentStepIndex", status.path("currentStepIndex").asInt());
        }
        return view;
    }
}
