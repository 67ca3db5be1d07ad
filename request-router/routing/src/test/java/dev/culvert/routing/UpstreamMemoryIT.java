package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.Relay;
import dev.culvert.relay.outbound.Upstreams;
import dev.culvert.relay.upstream.Endpoint;
import dev.culvert.relay.upstream.Endpoints;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamTrust;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** For how long it is known how an upstream's addresses fare. */
class UpstreamMemoryIT {
    private static final Duration NEARLY = Duration.ofMinutes(9);

    private final AtomicLong now = new AtomicLong();
    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream upstream = new RawUpstream();
    private final UpstreamAddress address = UpstreamTemplate.of(upstream.uri()).address();
    private final Upstreams upstreams = new Upstreams(UpstreamLimits.defaults(), UpstreamNames.DNS,
            UpstreamTrust.NONE, now::get);
    private final Relay relay = (request, response) -> upstreams.open(request,
            new UpstreamCall(address, "/", RouteFigures.uncounted("test")), response);

    @AfterEach
    void close() {
        upstreams.close();
        upstream.close();
        loops.dispose();
    }

    private Asker ask() {
        return new Asker(relay, loops.group().next()).get("/");
    }

    private static InetSocketAddress address(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    @Test
    void anUpstreamThatIsAskedIsNotForgotten() {
        Asker running = ask();
        RawUpstream.Peer peer = upstream.accept();
        peer.readHead();
        Endpoints known = upstreams.endpoints(address);

        now.addAndGet(NEARLY.toNanos());
        Asker next = ask();
        Loopback.answer(upstream.accept());
        next.awaitEnd();
        now.addAndGet(NEARLY.toNanos());

        assertThat(upstreams.endpoints(address)).as("one for all loops").isSameAs(known);
        peer.write(RawUpstream.head("HTTP/1.1 200 OK", "content-length: 2") + "ok");
        running.awaitEnd();
    }

    @Test
    void addressesThatAreForgottenDoNotCountAsLeftOut() {
        Endpoints some = upstreams.endpoints(address);
        some.found(some.epoch(), List.of(new Endpoints.Found(null, List.of(address(1), address(2)))));
        Endpoint bad = some.pick(List.of());
        for (int i = 0; i < 3; i++) {
            some.failed(Objects.requireNonNull(bad));
        }
        assertThat(upstreams.ejected()).isEqualTo(1);

        now.addAndGet(NEARLY.multipliedBy(2).toNanos());

        assertThat(upstreams.ejected()).isZero();
    }
}
