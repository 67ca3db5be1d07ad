package dev.culvert.client.link;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.Relay;
import dev.culvert.relay.route.Announcement;
import dev.culvert.relay.route.RequestPolicy;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.Router;
import dev.culvert.routing.RouterAudit;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.SingleUpstream;
import java.net.URI;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The destination of a client's streams: the router in this process, or one upstream.
 *
 * @param announcement supplies the announcement of its routes; null if they are not known to this client
 * @param bufferedBytes the number of bytes that wait there
 * @param drain refuses new exchanges
 * @param close ends all exchanges
 * @param reload applies the settings that can change at run time, with the origin of the change; returns
 *     whether there is something to announce
 */
record Upstream(Relay relay, Supplier<byte @Nullable []> announcement, LongSupplier bufferedBytes,
        Runnable drain, Runnable close, Reload reload) {

    /** A single upstream receives all requests directly. */
    private static final Announcement NOTHING_DURABLE = new Announcement(List.of(), List.of(),
            RequestPolicy.OPEN);

    /**
     * Creates the upstream of a configuration. Blocks: reads files.
     *
     * @param audit receives the requests that the router refuses
     * @param telemetry shows the meters of TLS with upstreams
     * @param changed called when there is something to announce without a reload
     */
    static Upstream of(ClientConfig config, RouterAudit audit, Telemetry telemetry, Runnable changed) {
        URI only = config.to() != null ? config.to() : config.routerUrl();
        if (only != null) {
            SingleUpstream upstream = SingleUpstream.create(only, config.manner());
            upstream.shown(telemetry);
            byte[] none = config.to() == null ? null : NOTHING_DURABLE.toJson();
            return new Upstream(upstream, () -> none, upstream::bufferedBytes, upstream::drain,
                    upstream::close, (any, origin) -> false);
        }
        RoutingConfig routing = routing(config);
        Router router = Router.create(routing, UpstreamLimits.defaults(), audit);
        router.shown(telemetry);
        var announcement = new OwnAnnouncement(routing, changed);
        return new Upstream(router, announcement::document, router::bufferedBytes, router::drain, () -> {
            announcement.close();
            router.close();
        }, (next, origin) -> {
            if (next.to() != null || next.routerUrl() != null) {
                return false;
            }
            RoutingConfig other = routing(next);
            announcement.replace(other, () -> router.replace(other, origin));
            return true;
        });
    }

    private static RoutingConfig routing(ClientConfig config) {
        return config.router() == null ? RoutingConfig.defaults() : config.router();
    }

    /**
     * Applies other routes, policy and addresses. All other settings change only with a restart of the
     * process.
     */
    @FunctionalInterface
    interface Reload {
        boolean take(ClientConfig changed, String origin);
    }
}
