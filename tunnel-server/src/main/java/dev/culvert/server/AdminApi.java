package dev.culvert.server;

import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.security.Principal;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The admin API and its web page, as openapi.yaml in this module describes them. Everything below {@code /api/} needs
 * the bearer token, unknown paths included. Health and metrics are {@code HealthFilter}'s, in front of this handler.
 */
public final class AdminApi implements EdgeHandler {
    /** Far above any body of this API. */
    static final int MAX_BODY_BYTES = 64 << 10;
    private static final String PROTECTED = "/api/";
    private static final String SCHEME = "Bearer ";
    private static final Duration RETRY_WHEN_BUSY = Duration.ofSeconds(1);
    /** One token, hence one caller; more arrive with the users of the control plane. */
    private static final Principal ADMIN = () -> "admin";

    private final AdminToken token;
    private final List<AdminRoute> routes;

    /** Makes the handler. Reads its pages from the jar. */
    public AdminApi(AdminToken token, RuntimeStore store, RuntimeRegistrar registrar, TunnelDirectory tunnels,
            Clock clock) {
        this.token = token;
        var audit = new AuditLog(clock);
        List<AdminRoute> all = new ArrayList<>(AdminPages.routes());
        all.addAll(new RuntimeCalls(store, registrar, tunnels, audit).routes());
        all.addAll(new TunnelCalls(store, tunnels, audit).routes());
        this.routes = List.copyOf(all);
    }

    List<AdminRoute> routes() {
        return routes;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        Mono<EdgeResponse> answer = request.path().startsWith(PROTECTED)
                ? authorized(request).flatMap(this::route)
                : Mono.defer(() -> route(request));
        return answer.map(AdminApi::hardened)
                .onErrorMap(InvalidNameException.class, AdminApi::badRequest)
                .onErrorMap(StoreException.class, AdminApi::refusal);
    }

    private Mono<EdgeResponse> route(EdgeRequest request) {
        String path = request.path();
        Set<HttpMethod> allowed = new LinkedHashSet<>();
        for (AdminRoute route : routes) {
            Map<String, String> segments = route.match(path);
            if (segments == null) {
                continue;
            }
            if (route.serves(request.method())) {
                return route.call().answer(request, segments);
            }
            allowed.add(route.method());
        }
        return Mono.error(allowed.isEmpty()
                ? HandlerException.of(Reason.NOT_FOUND, "the admin API has no such path; see /openapi.yaml")
                : HandlerException.methodNotAllowed(allowed.toArray(HttpMethod[]::new)));
    }

    private Mono<EdgeRequest> authorized(EdgeRequest request) {
        String presented = bearer(request);
        if (presented == null) {
            return Mono.error(unauthorized(
                    "this call needs the header Authorization: Bearer <token of admin.tokenFile>"));
        }
        return token.matches(presented).map(matches -> {
            if (!matches) {
                throw unauthorized("this is not the token of admin.tokenFile");
            }
            return request.withContext(request.context().withCaller(ADMIN));
        });
    }

    private static @Nullable String bearer(EdgeRequest request) {
        List<String> fields = request.headers().getAll(HttpHeaderNames.AUTHORIZATION);
        // RFC 9110 §11.1: the scheme's name is compared without case.
        return fields.size() == 1 && fields.getFirst().regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                ? fields.getFirst().substring(SCHEME.length()).strip()
                : null;
    }

    private static HandlerException unauthorized(String detail) {
        return HandlerException.of(Reason.UNAUTHORIZED, detail)
                .with(HttpHeaderNames.WWW_AUTHENTICATE,
                        "Bearer realm=\"culvert-admin\"");
    }

    private static EdgeResponse hardened(EdgeResponse response) {
        return response instanceof EdgeResponse.Http http
                ? http.with("x-content-type-options", "nosniff")
                : response;
    }

    private static HandlerException badRequest(InvalidNameException wrong) {
        String message = wrong.getMessage();
        return HandlerException.of(Reason.BAD_REQUEST, message == null ? wrong.field() : message);
    }

    private static Throwable refusal(StoreException refused) {
        String message = refused.getMessage();
        String detail = message == null ? "" : message;
        return switch (refused) {
            case StoreException.Absent absent -> HandlerException.of(Reason.NOT_FOUND, detail);
            case StoreException.Conflict conflict -> HandlerException.of(Reason.CONFLICT, detail);
            case StoreException.Full full -> HandlerException.of(Reason.CONFLICT, detail);
            case StoreException.Busy busy ->
                HandlerException.of(Reason.OVERLOADED, detail).retryAfter(RETRY_WHEN_BUSY);
            case StoreException.Held held ->
                HandlerException.of(Reason.DRAINING, detail).retryAfter(RETRY_WHEN_BUSY);
            case StoreException.Failed failed -> failed;
        };
    }
}
