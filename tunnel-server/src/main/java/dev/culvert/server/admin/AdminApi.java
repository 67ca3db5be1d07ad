package dev.culvert.server.admin;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.Inbox;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.server.store.AuditStore;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.server.token.AdminCaller;
import dev.culvert.server.token.AdminToken;
import dev.culvert.server.token.AdminTokenStore;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
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
 * The admin API and its web page, as openapi.yaml in this module describes them. Everything below {@code
 * /api/} needs a bearer token, unknown paths included, and each call a role. {@code HealthFilter}, in front
 * of this handler, serves health and metrics.
 */
public final class AdminApi implements EdgeHandler {
    /** Far above any body of this API. */
    static final int MAX_BODY_BYTES = 64 << 10;
    private static final String PROTECTED = "/api/";
    private static final String SCHEME = "Bearer ";
    private static final Duration RETRY_WHEN_BUSY = Duration.ofSeconds(1);
    private static final Duration RETRY_WHEN_FULL = Duration.ofMinutes(1);

    private final AdminAccess access;
    private final List<AdminRoute> routes;

    /** Makes the handler. Reads its pages from the jar. */
    public AdminApi(Parts parts) {
        this.access = new AdminAccess(parts.token, parts.adminTokens, parts.clock);
        var audit = new AdminAudit(parts.audit, parts.clock);
        List<AdminRoute> all = new ArrayList<>(AdminPages.routes());
        all.addAll(new RuntimeCalls(parts, audit).routes());
        all.addAll(new LimitCalls(parts.store, parts.quotas, audit).routes());
        all.addAll(new AccessCalls(parts.store, parts.withoutRules, audit).routes());
        all.addAll(new WebhookCalls(parts.inbox.webhooks(), parts.store, audit).routes());
        all.addAll(new TunnelCalls(parts.store, parts.tunnels, audit).routes());
        all.addAll(new AdminTokenCalls(access, parts.adminTokens, audit).routes());
        all.addAll(new AuditCalls(parts.audit).routes());
        all.addAll(new EventCalls(parts.events, access, EventCalls.HEARTBEAT).routes());
        this.routes = List.copyOf(all);
    }

    /**
     * The components that the API uses.
     *
     * @param token the token file
     * @param adminTokens the named tokens
     * @param audit the audit log of changes
     * @param store the runtimes
     * @param registrar changes them
     * @param quotas the limits and usage of the runtimes
     * @param withoutRules whether runtimes without access rules may be called
     * @param tunnels the live sessions
     * @param inbox the webhooks
     * @param events the events of the server
     * @param clock the time of entries and tokens
     */
    public record Parts(AdminToken token, AdminTokenStore adminTokens, AuditStore audit, RuntimeStore store,
            RuntimeRegistrar registrar, RuntimeQuotas quotas, AccessDefault withoutRules,
            TunnelDirectory tunnels, Inbox inbox, ServerEvents events,
            Clock clock) {}

    public List<AdminRoute> routes() {
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
            Map<String, String> segments = route.template().match(path);
            if (segments == null) {
                continue;
            }
            if (route.serves(request.method())) {
                requireRole(request, route);
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
                    "this call needs the header Authorization: Bearer <token of admin.tokenFile, or a named admin token>"));
        }
        return access.caller(presented)
                .switchIfEmpty(Mono.error(() -> unauthorized(
                        "this is neither the token of admin.tokenFile nor a named admin token")))
                .map(caller -> request.withContext(request.context().withCaller(caller)));
    }

    private static void requireRole(EdgeRequest request, AdminRoute route) {
        if (request.context().caller() instanceof AdminCaller caller && !caller.role().covers(route.role())) {
            throw HandlerException.of(Reason.FORBIDDEN, "this call needs an admin token of the role "
                    + route.role().word() + "; " + caller.name() + " has " + caller.role().word());
        }
    }

    /** The token that a caller presents, or null. */
    static @Nullable String bearer(EdgeRequest request) {
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

    public static Throwable refusal(StoreException refused) {
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
            case StoreException.Failed failed ->
                failed.isDiskFull()
                        ? HandlerException.of(Reason.OVERLOADED, detail).retryAfter(RETRY_WHEN_FULL)
                        : failed;
        };
    }
}
