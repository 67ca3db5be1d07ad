package dev.culvert.appproxy.argo.application;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;

/** The merge patches that start operations of Argo CD's controller. */
final class ApplicationOperations {
    private ApplicationOperations() {}

    /**
     * Returns the patch that makes a change. Throws HandlerException when the application's state forbids it.
     */
    static ObjectNode patch(ApplicationChange change, JsonNode application, AuthenticatedCaller caller) {
        return switch (change) {
            case ApplicationChange.Sync sync -> sync(sync, application, caller);
            case ApplicationChange.Rollback rollback -> rollback(rollback, application, caller);
            case ApplicationChange.Terminate terminate -> terminate(application);
        };
    }

    private static ObjectNode sync(ApplicationChange.Sync sync, JsonNode application,
            AuthenticatedCaller caller) {
        JsonNode spec = application.path("spec");
        String target = spec.path("source").path("targetRevision").asText("HEAD");
        if (!sync.revision().isEmpty() && !sync.revision().equals(target) && automated(spec)
                && !sync.dryRun()) {
            throw refused("Cannot sync to " + sync.revision() + ": auto-sync currently set to " + target);
        }
        ObjectNode operation = begun(application, caller);
        ObjectNode work = operation.putObject("sync");
        if (spec.has("sources")) {
            work.set("sources", spec.path("sources"));
        } else {
            work.put("revision", sync.revision().isEmpty() ? target : sync.revision());
            work.set("source", spec.path("source"));
        }
        options(work, spec, sync.prune(), sync.dryRun());
        if (spec.path("syncPolicy").has("retry")) {
            operation.set("retry", spec.path("syncPolicy").path("retry"));
        }
        return started(operation);
    }

    private static ObjectNode rollback(ApplicationChange.Rollback rollback, JsonNode application,
            AuthenticatedCaller caller) {
        JsonNode spec = application.path("spec");
        if (automated(spec)) {
            throw refused("rollback cannot be initiated when auto-sync is enabled");
        }
        for (JsonNode deployed : application.path("status").path("history")) {
            if (deployed.path("id").asLong(-1) == rollback.id()) {
                ObjectNode operation = begun(application, caller);
                ObjectNode work = operation.putObject("sync");
                for (String field : new String[]{"revision", "revisions", "source", "sources"}) {
                    if (deployed.has(field)) {
                        work.set(field, deployed.path(field));
                    }
                }
                options(work, spec, rollback.prune(), rollback.dryRun());
                work.putObject("syncStrategy").putObject("apply");
                return started(operation);
            }
        }
        throw refused("application " + application.path("metadata").path("name").asText()
                + " does not have deployment with id " + rollback.id());
    }

    private static ObjectNode terminate(JsonNode application) {
        if (!application.has("operation") || !application.path("status").has("operationState")) {
            throw refused("Unable to terminate operation. No operation is in progress");
        }
        return Fields.parse("{\"status\":{\"operationState\":{\"phase\":\"Terminating\"}}}");
    }

    private static ObjectNode begun(JsonNode application, AuthenticatedCaller caller) {
        if (application.path("metadata").has("deletionTimestamp")) {
            throw refused("application is deleting");
        }
        if (application.has("operation")) {
            throw refused("another operation is already in progress");
        }
        ObjectNode operation = Fields.object();
        operation.putObject("initiatedBy").put("username", caller.id());
        return operation;
    }

    private static void options(ObjectNode work, JsonNode spec, boolean prune, boolean dryRun) {
        work.put("prune", prune).put("dryRun", dryRun);
        if (spec.path("syncPolicy").has("syncOptions")) {
            work.set("syncOptions", spec.path("syncPolicy").path("syncOptions"));
        }
    }

    private static ObjectNode started(ObjectNode operation) {
        ObjectNode patch = Fields.object();
        patch.set("operation", operation);
        patch.putObject("status").putNull("operationState");
        return patch;
    }

    private static boolean automated(JsonNode spec) {
        JsonNode automated = spec.path("syncPolicy").path("automated");
        return automated.isObject() && automated.path("enabled").asBoolean(true);
    }

    private static HandlerException refused(String text) {
        return HandlerException.of(Reason.CONFLICT, text);
    }
}
