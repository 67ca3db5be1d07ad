package dev.culvert.appproxy.argo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads and changes rollouts: by their custom resources; or, where the API of Argo Rollouts is configured and has the
 * change, through that. Errors: {@link ApiFailure}, HandlerException for what the state forbids.
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

    /** Changes it and emits what it is then. */
    Mono<JsonNode> change(RolloutChange change, ObjectKey key) {
        RemoteApi api = rollouts;
        if (api == null) {
            return resources.insist(key, rollout -> patch(key, RolloutPatches.of(change, rollout)));
        }
        return switch (change) {
            case PROMOTE -> call(api, key, "promote", Fields.object());
            case PROMOTE_FULL -> call(api, key, "promote", Fields.object().put("full", true));
            case ABORT -> call(api, key, "abort", Fields.object());
            case RETRY -> call(api, key, "retry", Fields.object());
            case RESTART -> call(api, key, "restart", Fields.object().put("restartAt", Fields.now()));
            case SKIP, PAUSE, RESUME ->
                resources.insist(key, rollout -> patch(key, RolloutPatches.of(change, rollout)));
        };
    }

    private static Mono<JsonNode> call(RemoteApi api, ObjectKey key, String verb, ObjectNode body) {
        return api.call("PUT", "/api/v1/rollouts/" + key.namespace() + "/" + key.name() + "/" + verb,
                RemoteApi.JSON, body.put("namespace", key.namespace()).put("name", key.name()));
    }

    /** The status first; where it is no resource of its own, both at once. */
    private Mono<JsonNode> patch(ObjectKey key, RolloutPatches patches) {
        ObjectNode status = patches.status();
        ObjectNode spec = patches.spec();
        Mono<JsonNode> rest = spec == null ? resources.read(key) : resources.patch(key, spec);
        if (status == null) {
            return rest;
        }
        return resources.patchStatus(key, status)
                .flatMap(patched -> spec == null ? Mono.just(patched) : rest)
                .onErrorResume(ApiFailure.class,
                        failure -> failure.notFound()
                                ? resources.patch(key, patches.unified())
                                : Mono.error(failure));
    }
}
