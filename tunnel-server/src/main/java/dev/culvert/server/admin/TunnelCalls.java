package dev.culvert.server.admin;

import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The calls below {@code /api/v1/tunnels}. */
final class TunnelCalls {
    private final RuntimeStore store;
    private final TunnelDirectory tunnels;
    private final AdminAudit audit;

    TunnelCalls(RuntimeStore store, TunnelDirectory tunnels, AdminAudit audit) {
        this.store = store;
        this.tunnels = tunnels;
        this.audit = audit;
    }

    List<AdminRoute> routes() {
        return List.of(new AdminRoute(HttpMethod.GET, "/api/v1/tunnels", (request, segments) -> list()),
                new AdminRoute(HttpMethod.POST, "/api/v1/tunnels/{id}/drain",
                        (request, segments) -> drain(request, segments.getOrDefault("id", "")))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.DELETE, "/api/v1/tunnels/{id}",
                        (request, segments) -> close(request, segments.getOrDefault("id", "")))
                        .needs(AdminRole.OPERATE));
    }

    /** Runs off the event loop, because the list may be long. */
    private Mono<EdgeResponse> list() {
        return Mono.<EdgeResponse>fromSupplier(() -> JsonAnswer.of(HttpResponseStatus.OK,
                new JsonAnswer.Page<>(tunnels.sessions()
                        .stream()
                        .map(session -> AdminJson.RuntimeTunnelView.of(session,
                                store.byId(session.runtimeId())))
                        .toList(), null)))
                .subscribeOn(Schedulers.boundedElastic());
    }

    private Mono<EdgeResponse> drain(EdgeRequest request, String id) {
        return audit.noted(request.context(), "tunnel drained", id, Mono.fromSupplier(() -> {
            if (!tunnels.drain(id)) {
                throw new StoreException.Absent("there is no such tunnel");
            }
            return EdgeResponse.Http.empty(HttpResponseStatus.ACCEPTED);
        }));
    }

    private Mono<EdgeResponse> close(EdgeRequest request, String id) {
        return audit.noted(request.context(), "tunnel closed", id, Mono.fromSupplier(() -> {
            if (!tunnels.close(id)) {
                throw new StoreException.Absent("there is no such tunnel");
            }
            return EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT);
        }));
    }
}
