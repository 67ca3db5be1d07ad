package dev.culvert.appproxy.argo.rollout;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.argo.api.ApiProvider;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerContext;

/** State changes of Argo Rollouts: handler {@code rollouts}, reached through GraphQL alone. */
public final class RolloutsProvider extends ApiProvider {
    public static final String NAME = "rollouts";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        RolloutsSettings settings = context.settings(RolloutsSettings.class);
        ApiSettings argo = settings.argoRollouts();
        var kubernetes = api("the Kubernetes API", "kubernetes",
                settings.kubernetes());
        RemoteApi rollouts = argo == null
                ? null
                : api("the API of Argo Rollouts", "argoRollouts", argo);
        return new RolloutsHandler(new RolloutSteering(kubernetes, rollouts),
                new Gate(context.service(Access.class), Kind.ROLLOUT, "gitopsApplications",
                        settings.cluster(),
                        context.runtime()));
    }
}
