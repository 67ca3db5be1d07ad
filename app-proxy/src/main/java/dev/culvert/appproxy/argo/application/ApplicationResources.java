package dev.culvert.appproxy.argo.application;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.LogQuery;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.PodLogs;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.appproxy.argo.api.Resources;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Steers applications by their custom resources. */
final class ApplicationResources implements ApplicationSteering {
    /** The cluster that Argo CD runs in, as Argo CD names it. */
    private static final String IN_CLUSTER = "https://kubernetes.default.svc";

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
    public Mono<JsonNode> change(ApplicationChange change, ObjectKey key, Judged judged,
            AuthenticatedCaller caller) {
        return resources.insist(key, judged,
                application -> resources.patch(key, application.object(),
                        ApplicationOperations.patch(change, application.object(), caller)));
    }

    /** Pods that carry the application's name in the usual label, in the namespace it deploys to. */
    @Override
    public Mono<Flux<PodLogs.Entry>> log(JsonNode application, ObjectKey key, LogQuery query) {
        JsonNode destination = application.path("spec").path("destination");
        if (!here(destination)) {
            return Mono.error(HandlerException.of(Reason.CONFLICT,
                    "its pods are in another cluster, which the Argo CD server alone reaches: set handlers.applications.argoCd"));
        }
        String namespace = destination.path("namespace").asText(key.namespace());
        ObjectKey.checkNamespace(namespace);
        return Mono.just(
                logs.ofPods(namespace, "app.kubernetes.io/instance%3D" + key.name(), query, Mono.never()));
    }

    /** Whether it deploys to the cluster that Argo CD runs in: another one's pods may have namesakes here. */
    private static boolean here(JsonNode destination) {
        String cluster = destination.path("name").asText("");
        return cluster.isEmpty()
                ? destination.path("server").asText(IN_CLUSTER).startsWith(IN_CLUSTER)
                : cluster.equals("in-cluster");
    }
}
