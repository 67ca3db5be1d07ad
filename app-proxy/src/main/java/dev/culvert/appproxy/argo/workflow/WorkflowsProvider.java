package dev.culvert.appproxy.argo.workflow;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.api.Gate;
import dev.culvert.appproxy.argo.api.Kind;
import dev.culvert.appproxy.argo.api.RemoteApi;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** State changes, logs and events of Argo Workflows: handler {@code workflows}. */
public final class WorkflowsProvider implements EdgeHandlerProvider {
    public static final String NAME = "workflows";

    private @Nullable RemoteApi api;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String mount() {
        return WorkflowsHandler.MOUNT;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        WorkflowsSettings settings = context.settings(WorkflowsSettings.class);
        ApiSettings argo = settings.argoWorkflows();
        RemoteApi created = argo != null
                ? new RemoteApi("the Argo server", "handlers.workflows.argoWorkflows", argo)
                : new RemoteApi("the Kubernetes API", "handlers.workflows.kubernetes", settings.kubernetes());
        api = created;
        var gate = new Gate(context.service(Access.class), Kind.WORKFLOW, "workflows", settings.cluster(),
                context.runtime());
        return new WorkflowsHandler(
                argo != null ? new WorkflowServer(created) : new WorkflowResources(created),
                gate, settings.maxStreams());
    }

    /** Streams are calls that go on: they must leave room for changes. */
    @Override
    public HandlerLimits limits() {
        return new HandlerLimits(256, Duration.ofMinutes(1), 4);
    }

    @Override
    public Mono<Void> start() {
        RemoteApi created = api;
        return created == null ? Mono.empty() : created.open();
    }

    @Override
    public Mono<Void> stop(Duration grace) {
        RemoteApi created = api;
        return created == null ? Mono.empty() : created.close();
    }
}
