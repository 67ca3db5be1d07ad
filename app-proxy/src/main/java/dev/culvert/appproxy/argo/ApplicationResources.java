package dev.culvert.appproxy.argo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.access.Caller;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Steers applications by their custom resources. */
final class ApplicationResources implements ApplicationSteering {
    private final Resources resources;
    private final PodLogs logs;

    ApplicationResources(RemoteApi kubernetes) {
        this.resources = new Resources(kubernetes, Kind.APPLICATION);
        this.logs = new PodLogs(kubernetes);
    }

    @Override
    public Mono<JsonNode> application(ObjectKey key) {
        return resources.read(key);
    }

    @Override
    public Mono<JsonNode> change(ApplicationChange change, ObjectKey key, Caller caller) {
        return resources.insist(key,
                application -> Mono.defer(() -> resources.patch(key,
                        ApplicationOperations.patch(change, application, caller))));
    }

    /** Pods that carry the application's name in the usual label, in the namespace it deploys to. */
    @Override
    public Mono<Flux<PodLogs.Entry>> log(JsonNode application, ObjectKey key, LogQuery query) {
        String namespace = application.path("spec")
                .path("destination")
                .path("namespace")
                .asText(key.namespace());
        ObjectKey.checkNamespace(namespace);
        return Mono.just(
                logs.ofPods(namespace, "app.kubernetes.io/instance%3D" + key.name(), query, Mono.never()));
    }
}
