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
 * The access of one App-Proxy with all that belongs to it: its client of the control plane, its audit log, and the call by
 * which the control plane says that something changed. Made, then {@link #start}ed, then {@link #stop}ped.
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

    /** To a control plane. */
    private record Link(ControlPlaneClient client, ChangeFeed feed, ControlPlaneSettings settings) {}

    /**
     * No IO, no threads.
     *
     * @param settings null: nobody may anything
     * @param auditFolder null: records go to the log
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

    /** What handlers use. */
    public Access access() {
        return access;
    }

    /** Reads files and begins to look for changes; does not wait for the control plane. Errors: ConfigException, CertsException. */
    public Mono<Void> start() {
        return link == null
                ? Mono.empty()
                : link.client.open().then(Mono.fromRunnable(() -> link.feed.start(link.settings.poll())));
    }

    /** Whether changes at the control plane are followed by now; never without one. On any thread. */
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

    /** Takes the control plane's nudge, which carries nothing and proves nothing: anybody may cause a look, ten a second at most. */
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
