package dev.culvert.appproxy.argo.application;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.argo.api.ApiProvider;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import java.time.Duration;
import java.util.List;

/** State changes and logs of Argo CD's applications: handler {@code applications}. */
public final class ApplicationsProvider extends ApiProvider {
    public static final String NAME = "applications";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of(ApplicationsHandler.MOUNT);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        ApplicationsSettings settings = context.settings(ApplicationsSettings.class);
        ApiSettings argo = settings.argoCd();
        RemoteApi created = argo != null
                ? api("the Argo CD server", "argoCd", argo)
                : api("the Kubernetes API", "kubernetes",
                        settings.kubernetes());
        var gate = new Gate(context.service(Access.class), Kind.APPLICATION, "gitopsApplications",
                settings.cluster(), context.runtime());
        return new ApplicationsHandler(
                argo != null ? new ApplicationServer(created) : new ApplicationResources(created), gate,
                settings.namespace(), settings.maxStreams());
    }

    /** Leaves room for changes beside streams, which occupy their calls until they end. */
    @Override
    public HandlerLimits limits() {
        return new HandlerLimits(256, Duration.ofMinutes(1), 4);
    }
}
