package dev.culvert.client;

import dev.culvert.edge.relay.Relay;
import dev.culvert.edge.route.Announcement;
import dev.culvert.edge.route.RequestPolicy;
import dev.culvert.router.Router;
import dev.culvert.router.RoutingConfig;
import dev.culvert.router.SingleUpstream;
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
 */
record Upstream(Relay relay, Supplier<byte @Nullable []> announcement, LongSupplier bufferedBytes,
        Runnable drain, Runnable close) {

    /** One upstream gets everything as it comes. */
    private static final Announcement NOTHING_DURABLE = new Announcement(List.of(), List.of(),
            RequestPolicy.OPEN);

    static Upstream of(ClientConfig config) {
        URI only = config.to() != null ? config.to() : config.routerUrl();
        if (only != null) {
            SingleUpstream upstream = SingleUpstream.create(only);
            byte[] none = config.to() == null ? null : NOTHING_DURABLE.toJson();
            return new Upstream(upstream, () -> none, upstream::bufferedBytes, upstream::drain,
                    upstream::close);
        }
        RoutingConfig routing = config.router() == null ? RoutingConfig.defaults() : config.router();
        Router router = Router.create(routing);
        byte[] announcement = routing.announcement().toJson();
        return new Upstream(router, () -> announcement, router::bufferedBytes, router::drain, router::close);
    }
}
