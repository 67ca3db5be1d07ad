package dev.culvert.standins.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;

/**
 * The changes of Argo's servers to objects. Errors of all methods: {@link GrpcError}. Calls block briefly.
 */
final class ArgoVerbs {
    private static final Set<String> DONE = Set.of("Succeeded", "Failed", "Error");

    private final ClusterStandIn cluster;

    ArgoVerbs(ClusterStandIn cluster) {
        this.cluster = cluster;
    }

    JsonNode read(String kind, String namespace, String name) {
        Crud.Reply reply = cluster.read(ClusterStandIn.path(kind, namespace) + "/" + name);
        if (!reply.success()) {
            throw GrpcError.notFound(reply.body().path("message").asText());
        }
        return reply.body();
    }

    JsonNode workflow(String verb, String namespace, String name) {
        JsonNode workflow = read("Workflow", namespace, name);
        String phase = workflow.path("status").path("phase").asText("");
        return switch (verb) {
            case "terminate", "stop" -> {
                if (DONE.contains(phase)) {
                    throw GrpcError.internal("cannot shutdown a completed workflow: workflow: \"" + name
                            + "\", namespace: \"" + namespace + "\"");
                }
                yield patch("Workflow", namespace, name,
                        "{\"spec\":{\"shutdown\":\"" + (verb.equals("stop") ? "Stop" : "Terminate") + "\"}}");
            }
            case "suspend" -> {
                if (DONE.contains(phase)) {
                    throw GrpcError.invalidArgument("cannot suspend completed workflows");
                }
                yield patch("Workflow", namespace, name, "{\"spec\":{\"suspend\":true}}");
            }
            case "resume" -> patch("Workflow", namespace, name, "{\"spec\":{\"suspend\":null}}");
            case "retry" -> {
                if (!phase.equals("Failed") && !phase.equals("Error")) {
                    throw GrpcError.invalidArgument("Cannot retry a workflow in phase " + phase);
                }
                yield patch("Workflow", namespace, name,
                        "{\"spec\":{\"shutdown\":null},\"status\":{\"phase\":\"\",\"message\":null,\"finishedAt\":null}}");
            }
            case "resubmit" -> {
                ObjectNode copy = Crud
                        .parse("{\"apiVersion\":\"argoproj.io/v1alpha1\",\"kind\":\"Workflow\"}");
                copy.putObject("metadata").put("generateName", name + "-").put("namespace", namespace);
                ObjectNode spec = workflow.path("spec").deepCopy();
                spec.remove("shutdown");
                copy.set("spec", spec);
                yield cluster.write("POST", ClusterStandIn.path("Workflow", namespace), copy.toString())
                        .body();
            }
            default -> throw GrpcError.notFound("Not Found");
        };
    }

    JsonNode rollout(String verb, String namespace, String name, ObjectNode body) {
        var _ = read("Rollout", namespace, name);
        return switch (verb) {
            case "promote" -> status(namespace, name, body.path("full").asBoolean()
                    ? "{\"status\":{\"promoteFull\":true}}"
                    : "{\"status\":{\"pauseConditions\":null}}");
            case "abort" -> status(namespace, name, "{\"status\":{\"abort\":true}}");
            case "retry" -> status(namespace, name, "{\"status\":{\"abort\":false}}");
            case "restart" -> patch("Rollout", namespace, name,
                    "{\"spec\":{\"restartAt\":\"" + body.path("restartAt").asText() + "\"}}");
            default -> throw GrpcError.notFound("Not Found");
        };
    }

    JsonNode application(String call, String namespace, String name, ObjectNode body) {
        JsonNode application = read("Application", namespace, name);
        return switch (call) {
            case "POST sync" -> operation(application, namespace, name, body.path("revision").asText("main"));
            case "POST rollback" -> {
                for (JsonNode deployed : application.path("status").path("history")) {
                    if (deployed.path("id").asLong() == body.path("id").asLong()) {
                        yield operation(application, namespace, name, deployed.path("revision").asText());
                    }
                }
                throw GrpcError.invalidArgument("application " + namespace + "/" + name
                        + " does not have deployment with id " + body.path("id").asText());
            }
            case "DELETE operation" -> {
                if (!application.has("operation")) {
                    throw GrpcError
                            .invalidArgument("Unable to terminate operation. No operation is in progress");
                }
                var _ = patch("Application", namespace, name,
                        "{\"status\":{\"operationState\":{\"phase\":\"Terminating\"}}}");
                yield Crud.parse("{}");
            }
            default -> throw GrpcError.notFound("Not Found");
        };
    }

    private JsonNode operation(JsonNode application, String namespace, String name, String revision) {
        if (application.has("operation")) {
            throw GrpcError.failedPrecondition("another operation is already in progress");
        }
        return patch("Application", namespace, name, "{\"operation\":{\"sync\":{\"revision\":\"" + revision
                + "\"}},\"status\":{\"operationState\":null}}");
    }

    private JsonNode patch(String kind, String namespace, String name, String patch) {
        return cluster.write("PATCH", ClusterStandIn.path(kind, namespace) + "/" + name, patch).body();
    }

    private JsonNode status(String namespace, String name, String patch) {
        return cluster
                .write("PATCH", ClusterStandIn.path("Rollout", namespace) + "/" + name + "/status", patch)
                .body();
    }
}
