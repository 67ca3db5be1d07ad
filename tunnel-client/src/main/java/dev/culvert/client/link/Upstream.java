package dev.culvert.client.link;

import dev.culvert.client.dial.ClientConfig;
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
 * Where a client's streams go: through the router in this process, or to one upstream.
 *
 * @param announcement what the server is told of the routes behind it; null: nothing, as they are not known here
 * @param bufferedBytes what waits there, now
 * @param drain refuses new exchanges
 * @param close ends everything
 * @param reload takes what can change while it runs, and who changed it; true: there is something to announce
 */
record Upstream(Relay relay, Supplier<byte @Nullable []> announcement, LongSupplier bufferedBytes,
        Runnable drain, Runnable close, Reload reload) {

    /** One upstream gets everything as it comes. */
    private static final Announcement NOTHING_DURABLE = new Announcement(List.of(), List.of(),
            RequestPolicy.OPEN);

    /**
     * Reads files. Blocks.
     *
     * @param audit told of what the router refuses
     * @param changed told when there is something to announce without a reload
     */
    static Upstream of(ClientConfig config, RouterAudit audit, Runnable changed) {
        URI only = config.to() != null ? config.to() : config.routerUrl();
        if (only != null) {
            SingleUpstream upstream = SingleUpstream.create(only);
            byte[] none = config.to() == null ? null : NOTHING_DURABLE.toJson();
            return new Upstream(upstream, () -> none, upstream::bufferedBytes, upstream::drain,
                    upstream::close, (any, origin) -> false);
        }
        RoutingConfig routing = routing(config);
        Router router = Router.create(routing, UpstreamLimits.defaults(), audit);
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

    /** Takes other routes, policy and addresses; all else of a configuration holds from the start of the process. */
    @FunctionalInterface
    interface Reload {
        boolean take(ClientConfig changed, String origin);
    }
}
