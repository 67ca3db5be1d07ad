package dev.culvert.client;

import dev.culvert.edge.relay.Relay;
import dev.culvert.router.Router;
import dev.culvert.router.RoutingConfig;
import dev.culvert.router.SingleUpstream;
import java.net.URI;
import java.util.function.LongSupplier;

/**
 * Where a client's streams go: through the router in this process, or to one upstream.
 *
 * @param bufferedBytes what waits there, now
 * @param drain refuses new exchanges
 * @param close ends everything
 */
record Upstream(Relay relay, LongSupplier bufferedBytes, Runnable drain, Runnable close) {

    static Upstream of(ClientConfig config) {
        URI only = config.to() != null ? config.to() : config.routerUrl();
        if (only != null) {
            SingleUpstream upstream = SingleUpstream.create(only);
            return new Upstream(upstream, upstream::bufferedBytes, upstream::drain, upstream::close);
        }
        RoutingConfig routing = config.router() == null ? RoutingConfig.defaults() : config.router();
        Router router = Router.create(routing);
        return new Upstream(router, router::bufferedBytes, router::drain, router::close);
    }
}
