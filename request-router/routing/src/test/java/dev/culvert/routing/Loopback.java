package dev.culvert.routing;

import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.RawUpstream.Peer;
import java.time.Duration;

/** A relay to one upstream that the test plays itself; closing it checks that nothing is left. */
final class Loopback implements AutoCloseable {
    static final Duration LONG = Duration.ofSeconds(20);

    final EventLoops loops = EventLoops.create(1);
    final RawUpstream upstream = new RawUpstream();
    final SingleUpstream relay;

    Loopback() {
        this(limits(LONG, LONG));
    }

    Loopback(UpstreamLimits limits) {
        Leaks.watch();
        relay = SingleUpstream.create(upstream.uri(), limits);
    }

    /** Four connections, of these two idle, and two exchanges waiting. */
    static UpstreamLimits limits(Duration headTimeout, Duration idleTimeout) {
        return new UpstreamLimits(8, 4, 2, 2, Duration.ofSeconds(2), headTimeout, idleTimeout);
    }

    Asker asker() {
        return new Asker(relay, loops.group().next());
    }

    /** Asks for {@code /} on a connection that is new or was kept. */
    Asker get() {
        return asker().get("/");
    }

    Asker open(String method, String... fields) {
        return asker().open(Kind.HTTP, method, "/", false, fields);
    }

    Asker upgrade() {
        return asker().open(Kind.UPGRADE, "GET", "/ws", false, "upgrade", "websocket", "sec-websocket-key",
                "x");
    }

    /** Has one GET answered, and returns its connection, which is kept. */
    Peer keptConnection() {
        Asker asker = get();
        Peer peer = upstream.accept();
        answer(peer);
        asker.awaitEnd();
        return peer;
    }

    /** Reads a head and answers 200 with a body of two bytes. */
    static String answer(Peer peer) {
        String head = peer.readHead();
        peer.write(RawUpstream.head("HTTP/1.1 200 OK", "content-length: 2") + "ok");
        return head;
    }

    @Override
    public void close() {
        relay.close();
        Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
        upstream.close();
        loops.dispose();
    }
}
