package dev.culvert.server.admin;

import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.access.AccessFields;
import dev.culvert.server.access.AccessJson;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The calls that show and change the access rules of a runtime. A change is effective from the next request
 * on.
 */
final class AccessCalls {
    static final String PATH = "/api/v1/runtimes/{account}/{name}/access";

    private final RuntimeStore store;
    private final AccessDefault withoutRules;
    private final AdminAudit audit;

    AccessCalls(RuntimeStore store, AccessDefault withoutRules, AdminAudit audit) {
        this.store = store;
        this.withoutRules = withoutRules;
        this.audit = audit;
    }

    /** Rules can open closed runtimes, so a change needs the role {@code admin}. */
    List<AdminRoute> routes() {
        return List.of(
                new AdminRoute(HttpMethod.GET, PATH,
                        (request, segments) -> Mono
                                .fromSupplier(() -> answer(present(RuntimeCalls.name(segments))))),
                new AdminRoute(HttpMethod.PUT, PATH,
                        (request, segments) -> change(request, RuntimeCalls.name(segments))));
    }

    private Mono<EdgeResponse> change(EdgeRequest request, RuntimeName name) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .map(AccessFields::given)
                .flatMap(rules -> audit.noted(request.context(), "runtime access changed",
                        name + ": " + rules, store.replaceAccess(name, rules)))
                .map(this::answer);
    }

    private EdgeResponse answer(RegisteredRuntime runtime) {
        return JsonAnswer.of(HttpResponseStatus.OK,
                AccessJson.AccessView.of(runtime.access(), withoutRules));
    }

    private RegisteredRuntime present(RuntimeName name) {
        RegisteredRuntime runtime = store.byName(name);
        if (runtime == null) {
            throw new StoreException.Absent("there is no runtime " + name);
        }
        return runtime;
    }
}
