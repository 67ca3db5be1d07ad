package dev.culvert.server.admin;

import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.server.token.AdminTokenStore;
import dev.culvert.server.token.NamedToken;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The calls below {@code /api/v1/admin-tokens}. All of them need the role admin. */
final class AdminTokenCalls {
    private static final String ALL = "/api/v1/admin-tokens";
    private static final String ONE = "/api/v1/admin-tokens/{name}";
    private static final String ROTATE = "/api/v1/admin-tokens/{name}/rotate";

    private final AdminAccess access;
    private final AdminTokenStore store;
    private final AdminAudit audit;

    AdminTokenCalls(AdminAccess access, AdminTokenStore store, AdminAudit audit) {
        this.access = access;
        this.store = store;
        this.audit = audit;
    }

    List<AdminRoute> routes() {
        return List.of(
                new AdminRoute(HttpMethod.GET, ALL, (request, segments) -> list()).needs(AdminRole.ADMIN),
                new AdminRoute(HttpMethod.POST, ALL, (request, segments) -> create(request)),
                new AdminRoute(HttpMethod.DELETE, ONE,
                        (request, segments) -> delete(request, name(segments))),
                new AdminRoute(HttpMethod.POST, ROTATE,
                        (request, segments) -> rotate(request, name(segments))));
    }

    private Mono<EdgeResponse> list() {
        return Mono.fromSupplier(() -> JsonAnswer.of(HttpResponseStatus.OK,
                new JsonAnswer.Page<>(store.adminTokens().stream().map(AdminJson.AdminTokenView::of).toList(),
                        null)));
    }

    private Mono<EdgeResponse> create(EdgeRequest request) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES).flatMap(body -> {
            NewToken wanted = JsonFields.read(body, Set.of("name", "role"),
                    fields -> new NewToken(NamedToken.checked(fields.text("name")),
                            role(fields.text("role"))));
            return audit.noted(request.context(), "admin token made", wanted.name,
                    access.create(wanted.name, wanted.role));
        })
                .map(made -> JsonAnswer.of(HttpResponseStatus.CREATED,
                        AdminJson.IssuedAdminTokenView.of(made)));
    }

    private record NewToken(String name, AdminRole role) {}

    private Mono<EdgeResponse> rotate(EdgeRequest request, String name) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .flatMap(body -> audit.noted(request.context(), "admin token rotated", name,
                        access.rotate(name, keep(body))))
                .map(made -> JsonAnswer.of(HttpResponseStatus.CREATED,
                        AdminJson.IssuedAdminTokenView.of(made)));
    }

    private Mono<EdgeResponse> delete(EdgeRequest request, String name) {
        return audit.noted(request.context(), "admin token deleted", name, store.deleteAdminToken(name))
                .map(gone -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT));
    }

    private static AdminRole role(String word) {
        AdminRole role = AdminRole.of(word);
        if (role == null) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "role: not a role (expected: read, operate, admin or registrar)");
        }
        return role;
    }

    private static Duration keep(byte[] body) {
        String keep = body.length == 0
                ? null
                : JsonFields.<@Nullable String>read(body, Set.of("keep"),
                        fields -> fields.optionalText("keep"));
        return keep == null ? Duration.ZERO : TokenLife.of("keep", keep);
    }

    private static String name(Map<String, String> segments) {
        return segments.getOrDefault("name", "");
    }
}
