package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Logs of pods, through the Kubernetes API. Errors of all calls: {@link ApiFailure}. */
public final class PodLogs {
    /** The maximum number of pods read concurrently for one caller; further ones wait. */
    private static final int PODS = 16;

    /** The maximum number of pods in one log. */
    private static final int MAX_PODS = 2_000;

    /** Argo's own limit of a line. */
    private static final int MAX_LINE_BYTES = 1 << 20;

    private final RemoteApi kubernetes;

    public PodLogs(RemoteApi kubernetes) {
        this.kubernetes = kubernetes;
    }

    /** A line of a pod's log. */
    public record Entry(String pod, String line) {
        public ObjectNode json() {
            return Fields.object().put("content", line).put("podName", pod);
        }
    }

    /**
     * The lines of all pods with a label, those of one pod in order. Demand and cancellation reach the
     * Kubernetes API.
     *
     * @param selector of labels, escaped for a query
     * @param end completes when no new pods will come; only subscribed to while following
     */
    public Flux<Entry> ofPods(String namespace, String selector, LogQuery query, Mono<Void> end) {
        String pods = "/api/v1/namespaces/" + namespace + "/pods";
        Flux<JsonNode> found = query.follow()
                ? Resources.events(kubernetes, pods, "labelSelector=" + selector)
                        .flatMapMany(Function.identity())
                        .map(event -> event.path("object"))
                        .takeUntilOther(end)
                : kubernetes.read(pods + "?limit=500&labelSelector=" + selector)
                        .flatMapIterable(list -> list.path("items"));
        String only = query.pod();
        return found.filter(pod -> !pod.path("status").path("phase").asText("Pending").equals("Pending"))
                .map(pod -> pod.path("metadata").path("name").asText())
                .filter(name -> only == null || only.equals(name))
                .distinct()
                .take(MAX_PODS)
                .flatMap(name -> ofPod(pods + "/" + name, name, query), PODS, 1);
    }

    /** Deletes a pod. Succeeds if it is already deleted. */
    public Mono<Void> delete(ObjectKey pod) {
        return kubernetes
                .call("DELETE", "/api/v1/namespaces/" + pod.namespace() + "/pods/" + pod.name(),
                        RemoteApi.JSON, null)
                .onErrorResume(ApiFailure.class,
                        failure -> failure.notFound() ? Mono.empty() : Mono.error(failure))
                .then();
    }

    private Flux<Entry> ofPod(String path, String name, LogQuery query) {
        Integer tail = query.tailLines();
        String parameters = "?follow=" + query.follow()
                + (query.container().isEmpty() ? "" : "&container=" + query.container())
                + (tail == null ? "" : "&tailLines=" + tail);
        return kubernetes.stream(path + "/log" + parameters, "*/*")
                .flatMapMany(body -> LineStream.of(body, MAX_LINE_BYTES))
                .map(line -> new Entry(name, line));
    }
}
