package dev.culvert.routing;

import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.Http2Upstream.Asked;
import dev.culvert.routing.Http2Upstream.Peer;
import org.jspecify.annotations.Nullable;

/** A relay to one HTTP/2 upstream; closing it checks that nothing is left. */
final class Http2Loopback implements AutoCloseable {
    final EventLoops loops = EventLoops.create(1);
    final Http2Upstream upstream;
    final SingleUpstream relay;
    private @Nullable Peer peer;

    Http2Loopback() {
        this(100, Loopback.limits(Loopback.LONG, Loopback.LONG));
    }

    Http2Loopback(long maxStreams, UpstreamLimits limits) {
        Leaks.watch();
        upstream = new Http2Upstream(maxStreams);
        relay = SingleUpstream.create(upstream.uri("h2c"), limits);
    }

    Asker asker() {
        return new Asker(relay, loops.group().next());
    }

    Asker get() {
        return asker().get("/");
    }

    Asker post(String... fields) {
        return asker().open(Kind.HTTP, "POST", "/", false, fields);
    }

    /** The connection, once it is there. */
    Peer peer() {
        if (peer == null) {
            peer = upstream.accept();
        }
        return peer;
    }

    /** The next request on the first connection. */
    Asked asked() {
        return peer().ask();
    }

    @Override
    public void close() {
        relay.close();
        Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
        upstream.close();
        loops.dispose();
    }
}
