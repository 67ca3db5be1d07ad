package dev.culvert.appproxy.argo.rollout;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.HandlerContext;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** State changes of Argo Rollouts: handler {@code rollouts}, reached through GraphQL alone. */
public final class RolloutsProvider implements EdgeHandlerProvider {
    public static final String NAME = "rollouts";

    private List<RemoteApi> apis = List.of();

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public @Nullable String mount() {
        return null;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        RolloutsSettings settings = context.settings(RolloutsSettings.class);
        ApiSettings argo = settings.argoRollouts();
        var kubernetes = new RemoteApi("the Kubernetes API", "handlers.rollouts.kubernetes",
                settings.kubernetes());
        RemoteApi rollouts = argo == null
                ? null
                : new RemoteApi("the API of Argo Rollouts", "handlers.rollouts.argoRollouts", argo);
        apis = rollouts == null ? List.of(kubernetes) : List.of(kubernetes, rollouts);
        return new RolloutsHandler(new RolloutSteering(kubernetes, rollouts),
                new Gate(context.service(Access.class), Kind.ROLLOUT, "gitopsApplications",
                        settings.cluster(),
                        context.runtime()));
    }

    @Override
    public Mono<Void> start() {
        return Flux.fromIterable(apis).concatMap(RemoteApi::open).then();
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        return Flux.fromIterable(apis).concatMap(RemoteApi::close).then();
    }
}
