package dev.culvert.server.admin;

import dev.culvert.admin.AdminHandler;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.AdminToken;
import dev.culvert.admin.RefusedCalls;
import dev.culvert.admin.webhook.WebhookCalls;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.Inbox;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.server.store.AuditStore;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.server.token.AdminTokenStore;
import dev.culvert.server.tunnel.ServerEvents;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The admin API, as openapi.yaml in this module describes it. Everything below {@code
 * /api/} needs a bearer token, unknown paths included, and each call a role. {@code HealthFilter}, in front
 * of this handler, serves health and metrics.
 */
public final class AdminApi implements EdgeHandler {
    static final int MAX_BODY_BYTES = AdminHandler.MAX_BODY_BYTES;

    private final AdminAccess access;
    private final AdminHandler calls;

    /** Makes the handler. Reads its pages from the jar. */
    public AdminApi(Parts parts) {
        this.access = new AdminAccess(parts.token, parts.adminTokens, parts.clock);
        var audit = new AdminAudit(parts.audit, parts.clock);
        List<AdminRoute> all = new ArrayList<>(ApiDescription.routes());
        all.addAll(new RuntimeCalls(parts, audit).routes());
        all.addAll(new LimitCalls(parts.store, parts.quotas, audit).routes());
        all.addAll(new AccessCalls(parts.store, parts.withoutRules, audit).routes());
        all.addAll(new WebhookCalls(parts.inbox.webhooks(), new NamedRuntimes(parts.store), audit).routes());
        all.addAll(new TunnelCalls(parts.store, parts.tunnels, audit).routes());
        all.addAll(new AdminTokenCalls(access, parts.adminTokens, audit).routes());
        all.addAll(new AuditCalls(parts.audit).routes());
        all.addAll(new RequestCalls(parts.requests).routes());
        all.addAll(new EventCalls(parts.events, access, parts.requests, EventCalls.HEARTBEAT).routes());
        this.calls = new AdminHandler(access::caller, "token of admin.tokenFile, or a named admin token",
                all, new RefusedCalls("server", entry -> entry.log(parts.clock.instant())));
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
     * @param requests the requests that have ended
     * @param clock the time of entries and tokens
     */
    public record Parts(AdminToken token, AdminTokenStore adminTokens, AuditStore audit, RuntimeStore store,
            RuntimeRegistrar registrar, RuntimeQuotas quotas, AccessDefault withoutRules,
            TunnelDirectory tunnels, Inbox inbox, ServerEvents events, RequestLog requests,
            Clock clock) {}

    /** Authenticates callers. */
    public AdminAccess access() {
        return access;
    }

    public List<AdminRoute> routes() {
        return calls.routes();
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return finished(calls.handle(request));
    }

    /**
     * Makes a call for the web page: with the role check, the audit entry and the errors of any other call.
     * The context of the request has the caller, whom the page's session has authenticated.
     */
    public Mono<EdgeResponse> call(EdgeRequest request) {
        return finished(calls.call(request));
    }

    private static Mono<EdgeResponse> finished(Mono<EdgeResponse> answer) {
        return answer.onErrorMap(InvalidNameException.class, AdminApi::badRequest);
    }

    private static HandlerException badRequest(InvalidNameException wrong) {
        String message = wrong.getMessage();
        return HandlerException.of(Reason.BAD_REQUEST, message == null ? wrong.field() : message);
    }
}
