package dev.culvert.appproxy.argo.rollout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.appproxy.argo.api.ApiFailure;
import dev.culvert.appproxy.argo.api.Fields;
import dev.culvert.appproxy.argo.api.Judged;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.ObjectKey;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.appproxy.argo.api.Resources;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads and changes rollouts through the API of Argo Rollouts where it is configured and has the change,
 * otherwise by their custom resources. Errors: {@link ApiFailure}, HandlerException when the rollout's state
 * forbids the change.
 */
final class RolloutSteering {
    private final Resources resources;
    private final @Nullable RemoteApi rollouts;

    RolloutSteering(RemoteApi kubernetes, @Nullable RemoteApi rollouts) {
        this.resources = new Resources(kubernetes, Kind.ROLLOUT);
        this.rollouts = rollouts;
    }

    Mono<JsonNode> rollout(ObjectKey key) {
        return resources.read(key);
    }

    /**
     * Changes the judged rollout and emits the changed one. The API of Argo Rollouts ignores {@code
     * resourceVersion}, so a newer rollout is judged again before the change ({@link Judged#again}).
     */
    Mono<JsonNode> change(RolloutChange change, ObjectKey key, Judged judged) {
        RemoteApi api = rollouts;
        if (api == null) {
            return patched(change, key, judged);
        }
        Mono<Judged> checked = judged.again(rollout(key));
        return switch (change) {
            case PROMOTE -> checked.then(call(api, key, "promote", Fields.object()));
            case PROMOTE_FULL -> checked.then(call(api, key, "promote", Fields.object().put("full", true)));
            case ABORT -> checked.then(call(api, key, "abort", Fields.object()));
            case RETRY -> checked.then(call(api, key, "retry", Fields.object()));
            case RESTART ->
                checked.then(call(api, key, "restart", Fields.object().put("restartAt", Fields.now())));
            case SKIP, PAUSE, RESUME -> patched(change, key, judged);
        };
    }

    private Mono<JsonNode> patched(RolloutChange change, ObjectKey key, Judged judged) {
        return resources.insist(key, judged,
                rollout -> patch(key, rollout, RolloutPatches.of(change, rollout.object())));
    }

    private static Mono<JsonNode> call(RemoteApi api, ObjectKey key, String verb, ObjectNode body) {
        return api.call("PUT", "/api/v1/rollouts/" + key.namespace() + "/" + key.name() + "/" + verb,
                RemoteApi.JSON, body.put("namespace", key.namespace()).put("name", key.name()));
    }

    /** The status first; where it is no resource of its own, both at once. */
    private Mono<JsonNode> patch(ObjectKey key, Judged rollout, RolloutPatches patches) {
        ObjectNode status = patches.status();
        ObjectNode spec = patches.spec();
        if (status == null) {
            return spec == null ? Mono.just(rollout.object()) : resources.patch(key, rollout.object(), spec);
        }
        return resources.patchStatus(key, rollout.object(), status)
                .onErrorResume(ApiFailure.class,
                        failure -> failure.notFound()
                                ? resources.patch(key, rollout.object(), patches.unified())
                                : Mono.error(failure))
                .flatMap(patched -> spec == null
                        ? Mono.just(patched)
                        : unpaused(key, rollout.changed(patched), spec));
    }

    /**
     * The status is changed by then: a conflict here must not change it once more, as that could be another
     * step.
     */
    private Mono<JsonNode> unpaused(ObjectKey key, Judged rollout, ObjectNode spec) {
        return resources.insist(key, rollout, current -> resources.patch(key, current.object(), spec))
                .onErrorMap(ApiFailure.class, failure -> failure.told(Kind.ROLLOUT.singular() + " " + key));
    }
}
