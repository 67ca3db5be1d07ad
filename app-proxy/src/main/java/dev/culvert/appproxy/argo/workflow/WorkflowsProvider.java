package dev.culvert.appproxy.argo.workflow;

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

/** State changes, logs and events of Argo Workflows: handler {@code workflows}. */
public final class WorkflowsProvider extends ApiProvider {
    public static final String NAME = "workflows";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of(WorkflowsHandler.MOUNT);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        WorkflowsSettings settings = context.settings(WorkflowsSettings.class);
        ApiSettings argo = settings.argoWorkflows();
        RemoteApi created = argo != null
                ? api("the Argo server", "argoWorkflows", argo)
                : api("the Kubernetes API", "kubernetes", settings.kubernetes());
        var gate = new Gate(context.service(Access.class), Kind.WORKFLOW, "workflows", settings.cluster(),
                context.runtime());
        return new WorkflowsHandler(
                argo != null ? new WorkflowServer(created) : new WorkflowResources(created),
                gate, settings.maxStreams());
    }

    /** Leaves room for changes beside streams, which occupy their calls until they end. */
    @Override
    public HandlerLimits limits() {
        return new HandlerLimits(256, Duration.ofMinutes(1), 4);
    }
}
