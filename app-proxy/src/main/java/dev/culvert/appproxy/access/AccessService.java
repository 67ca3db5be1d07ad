package dev.culvert.appproxy.access;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.AuditTrail;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.file.Path;
import java.time.Clock;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The access control of one App-Proxy: its control plane client, its audit log, and the endpoint for change
 * notifications from the control plane. Call {@link #of}, {@link #start}, then {@link #stop}.
 */
public final class AccessService implements EdgeFilter {
    private final Access access;
    private final AuditTrail audit;
    private final @Nullable Link link;

    private AccessService(Access access, AuditTrail audit, @Nullable Link link) {
        this.access = access;
        this.audit = audit;
        this.link = link;
    }

    /** The connection to a control plane. */
    private record Link(ControlPlaneClient client, ChangeFeed feed, ControlPlaneSettings settings) {}

    /**
     * Makes a service. Does no I/O and starts no threads.
     *
     * @param settings the control plane; null: all operations are refused
     * @param auditFolder the folder of the audit log; null: records are written to the log
     */
    public static AccessService of(@Nullable ControlPlaneSettings settings, @Nullable Path auditFolder,
            EventLoops loops) {
        AuditTrail audit = auditFolder == null
                ? AuditTrail.toLog(Clock.systemUTC())
                : AuditTrail.in(auditFolder, Clock.systemUTC());
        if (settings == null) {
            return new AccessService(new ClosedAccess(), audit, null);
        }
        var client = new ControlPlaneClient(settings, loops);
        var access = new ControlPlaneAccess(client, settings, audit, Ticker.systemTicker());
        var feed = new ChangeFeed(client, client.reload(), access::forget, settings.publicUrl());
        return new AccessService(access, audit, new Link(client, feed, settings));
    }

    /** The access control for handlers. */
    public Access access() {
        return access;
    }

    /**
     * Reads files and starts to poll for changes. Does not wait for the control plane. Errors:
     * ConfigException, CertsException.
     */
    public Mono<Void> start() {
        return link == null
                ? Mono.empty()
                : link.client.open().then(Mono.fromRunnable(() -> link.feed.start(link.settings.poll())));
    }

    /**
     * Whether the change feed has completed its first poll; always false without a control plane. Callable
     * from any thread.
     */
    boolean isFollowing() {
        return link != null && link.feed.isFollowing();
    }

    /** Completes when the last audit record is written. */
    public Mono<Void> stop() {
        return Mono.defer(() -> {
            if (link == null) {
                return audit.close();
            }
            link.feed.stop();
            return link.client.close().then(audit.close());
        });
    }

    /**
     * Accepts the control plane's change notification. It has no content and no authentication: any caller
     * may cause a poll, at most ten a second.
     */
    @Override
    public Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next) {
        String path = request.path();
        if (link == null || !(path.equals("/app-proxy/api/changes") || path.equals("/api/changes"))) {
            return next.handle(request);
        }
        if (!request.method().equals(HttpMethod.POST)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.POST));
        }
        return Mono.fromSupplier(() -> {
            link.feed.nudge();
            return EdgeResponse.Http.empty(HttpResponseStatus.ACCEPTED);
        });
    }
}
