package dev.culvert.server.admin;

import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The calls that show and change limits: a runtime's own, which are stored, and the server's, which last
 * until it stops. A change is effective from the next request on.
 */
final class LimitCalls {
    static final String OF_SERVER = "/api/v1/limits";
    static final String OF_RUNTIME = "/api/v1/runtimes/{account}/{name}/limits";
    static final String USAGE = "/api/v1/runtimes/{account}/{name}/usage";

    private final RuntimeStore store;
    private final RuntimeQuotas quotas;
    private final AdminAudit audit;

    LimitCalls(RuntimeStore store, RuntimeQuotas quotas, AdminAudit audit) {
        this.store = store;
        this.quotas = quotas;
        this.audit = audit;
    }

    List<AdminRoute> routes() {
        return List.of(
                new AdminRoute(HttpMethod.GET, OF_SERVER,
                        (request, segments) -> Mono.fromSupplier(this::ofServer)),
                new AdminRoute(HttpMethod.PUT, OF_SERVER, (request, segments) -> changeServer(request)),
                new AdminRoute(HttpMethod.GET, OF_RUNTIME,
                        (request, segments) -> Mono
                                .fromSupplier(() -> ofRuntime(present(RuntimeCalls.name(segments))))),
                new AdminRoute(HttpMethod.PUT, OF_RUNTIME,
                        (request, segments) -> change(request, RuntimeCalls.name(segments)))
                        .needs(AdminRole.OPERATE),
                new AdminRoute(HttpMethod.GET, USAGE,
                        (request, segments) -> Mono
                                .fromSupplier(() -> usage(present(RuntimeCalls.name(segments))))));
    }

    private Mono<EdgeResponse> changeServer(EdgeRequest request) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .map(LimitFields::read)
                .flatMap(limits -> audit.noted(request.context(), "server limits changed", limits,
                        Mono.fromSupplier(() -> {
                            quotas.change(limits);
                            return limits;
                        })))
                .map(limits -> ofServer());
    }

    private Mono<EdgeResponse> change(EdgeRequest request, RuntimeName name) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .map(LimitFields::read)
                .flatMap(limits -> audit.noted(request.context(), "runtime limits changed",
                        name + ": " + limits, store.replaceLimits(name, limits)))
                .map(this::ofRuntime);
    }

    private EdgeResponse ofServer() {
        return JsonAnswer.of(HttpResponseStatus.OK,
                LimitJson.LimitsView.of(quotas.changed(), quotas.inForce()));
    }

    private EdgeResponse ofRuntime(RegisteredRuntime runtime) {
        return JsonAnswer.of(HttpResponseStatus.OK, LimitJson.LimitsView.of(runtime.limits(),
                quotas.of(runtime.id(), runtime.limits()).limits()));
    }

    private EdgeResponse usage(RegisteredRuntime runtime) {
        return JsonAnswer.of(HttpResponseStatus.OK,
                LimitJson.UsageView.of(quotas.of(runtime.id(), runtime.limits()).usage()));
    }

    private RegisteredRuntime present(RuntimeName name) {
        RegisteredRuntime runtime = store.byName(name);
        if (runtime == null) {
            throw new StoreException.Absent("there is no runtime " + name);
        }
        return runtime;
    }
}
