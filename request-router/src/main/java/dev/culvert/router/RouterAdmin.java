package dev.culvert.router;

import dev.culvert.admin.AdminCaller;
import dev.culvert.admin.AdminHandler;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.AdminToken;
import dev.culvert.admin.ChangeAudit;
import dev.culvert.admin.RefusedCalls;
import dev.culvert.admin.webhook.WebhookCalls;
import dev.culvert.admin.webhook.WebhookRuntimes;
import dev.culvert.certs.tls.CurrentContext;
import dev.culvert.certs.tls.ListenerTls;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HostFilter;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.inbox.StoredWebhooks;
import dev.culvert.routing.RouterAuditFiles;
import dev.culvert.store.Uncancellable;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The router's admin listener: the calls on its inbox, as openapi.yaml in this module describes them. Changes
 * are recorded in the router's own audit log.
 */
final class RouterAdmin {
    private static final String DESCRIPTION = "openapi.yaml";

    private RouterAdmin() {}

    /** The only runtime of a router, which operators do not name. */
    private record OnlyRuntime() implements WebhookRuntimes {
        @Override
        public String only() {
            return InboxFront.RUNTIME;
        }

        @Override
        public String id(String account, String name) {
            return InboxFront.RUNTIME;
        }

        @Override
        public WebhookRuntimes.@Nullable Name name(String id) {
            return null;
        }
    }

    /** Records changes in the router's audit log. */
    private record Audit(RouterAuditFiles files) implements ChangeAudit {
        @Override
        public <T> Mono<T> changed(RequestContext who, String what, Function<T, String> thing,
                Mono<T> change) {
            return Uncancellable.of(change.doOnNext(done -> files.changed(new AuditTrail.Entry(
                    ChangeAudit.user(who), null, what, "webhooks", thing.apply(done),
                    AuditTrail.Decision.ALLOWED, who.requestId(), ChangeAudit.address(who), null))));
        }
    }

    /**
     * Opens the listener, on an event loop of its own. Makes the token file when it is absent. Errors: {@link
     * dev.culvert.config.ConfigException} for an unusable token file, {@link
     * dev.culvert.http.net.ListenException}.
     *
     * @param tls its certificate, which is followed when its files change; null: plain HTTP
     */
    static Mono<EdgeServer> start(RouterConfig.Admin config, @Nullable ListenerTls tls,
            StoredWebhooks webhooks, RouterAuditFiles audit, Telemetry telemetry) {
        return AdminToken.load(config.file())
                .flatMap(token -> Mono.fromCallable(() -> handler(token, webhooks, audit))
                        .subscribeOn(Schedulers.boundedElastic()))
                .flatMap(handler -> EdgeServer.apart(own -> {
                    var setup = EdgeServer.Setup.of(config.listen(), own)
                            .telemetry(telemetry)
                            .filter(new HostFilter(AllowedHosts.of(config.hosts()), "admin.hosts"));
                    return tls == null ? setup : setup.tls(new CurrentContext(() -> tls.context(null)));
                }, handler));
    }

    /** Reads the listener's certificate. Blocks. Null: it speaks plain HTTP. */
    static @Nullable ListenerTls tls(RouterConfig.@Nullable Admin config) {
        return config == null || config.tls() == null
                ? null
                : ListenerTls.load("admin", List.of(config.tls().files()),
                        material -> TlsContexts.edge(material, List.of()), Clock.systemUTC());
    }

    static AdminHandler handler(AdminToken token, StoredWebhooks webhooks, RouterAuditFiles audit) {
        List<AdminRoute> routes = new ArrayList<>(
                new WebhookCalls(webhooks, new OnlyRuntime(), new Audit(audit)).routes());
        routes.add(description());
        return new AdminHandler(
                presented -> token.matches(presented)
                        .filter(known -> known)
                        .map(known -> AdminCaller.BOOTSTRAP),
                "token of admin.tokenFile", routes, new RefusedCalls("webhooks", audit::refused));
    }

    private static AdminRoute description() {
        byte[] content = read();
        return new AdminRoute(HttpMethod.GET, "/openapi.yaml",
                (request, segments) -> Mono.fromSupplier(
                        () -> EdgeResponse.Http.of(HttpResponseStatus.OK, "application/yaml", content)
                                .with("cache-control", "no-cache")));
    }

    private static byte[] read() {
        try (var stream = RouterAdmin.class.getResourceAsStream(DESCRIPTION)) {
            if (stream == null) {
                throw new IOException("the jar has no " + DESCRIPTION);
            }
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
