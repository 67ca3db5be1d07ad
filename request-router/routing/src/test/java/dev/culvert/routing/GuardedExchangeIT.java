package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.ByteSize;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.route.AnnouncedRoute;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.RepeatableRequest;
import dev.culvert.routing.RawUpstream.Peer;
import dev.culvert.routing.RouteConfig.Cors;
import dev.culvert.routing.RouteConfig.Delivery;
import dev.culvert.routing.RouteConfig.Order;
import dev.culvert.routing.RouteConfig.Timeouts;
import dev.culvert.routing.RoutingConfig.Policy;
import dev.culvert.routing.RoutingConfig.Reach;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a route bounds, ends and tries again, over real sockets. */
class GuardedExchangeIT {
    private static final Duration SHORT = Duration.ofMillis(150);

    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream upstream = new RawUpstream();
    private @Nullable Router router;

    @AfterEach
    void nothingIsLeft() {
        Router used = router;
        if (used != null) {
            used.close();
            Leaks.assertNone(used::bufferedBytes, used::openConnections);
        }
        upstream.close();
        loops.dispose();
    }

    private Asker asker(@Nullable ByteSize maxBody, @Nullable Timeouts timeouts, int retries, int port,
            String... sources) {
        Leaks.watch();
        var route = new RouteConfig("/x/", "http://x:1", null, List.of(), Map.of(), false, null, null,
                new Cors(List.of()), null, Order.SOURCE, null, maxBody, timeouts, retries, List.of(sources),
                null);
        Router made = Router.create(new RoutingConfig(List.of(route), List.of(), Policy.refusing(),
                Map.of("x:1", List.of(new HostPort("127.0.0.1", port))), List.of("10.0.0.0/8"), Reach.usual(),
                null));
        router = made;
        return new Asker(made, loops.group().next());
    }

    @Test
    void aBodyThatSaysItIsTooLargeIsRefusedAtOnce() {
        Asker asker = asker(new ByteSize(10), null, 0, upstream.port()).open(Kind.HTTP, "POST", "/x", false,
                "content-length", "11");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.BODY_TOO_LARGE);
        asker.send("swallowed").finish();
    }

    @Test
    void aBodyThatWasAnnouncedOpensItsConnectionWhenItComes() {
        Asker asker = asker(new ByteSize(10), null, 0, upstream.port());
        Router used = Objects.requireNonNull(router);

        asker.open(Kind.HTTP, "POST", "/x", false, "content-length", "5");
        assertThat(used.openConnections()).isZero();
        asker.send("hello").finish();

        upstream.accept().readHead();
        assertThat(used.openConnections()).isOne();
        asker.cancel();
    }

    @Test
    void aBodyThatGrowsTooLargeIsRefusedAndItsConnectionClosed() {
        Asker asker = asker(new ByteSize(10), null, 0, upstream.port()).open(Kind.HTTP, "POST", "/x", false);
        Peer peer = upstream.accept();
        asker.send("1234567890");
        peer.readHead();
        asker.send("1");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.BODY_TOO_LARGE);
        awaitEnd(peer);
    }

    /** Those that no inbox stores, too: without one, or stored by another. */
    @Test
    void aDurableWebhookHasABoundWhereNoneIsSaid() {
        var route = new RouteConfig("/in/", "http://x:1", false, null, null, Delivery.DURABLE);
        Leaks.watch();
        Router made = Router.create(new RoutingConfig(List.of(route), Policy.refusing(),
                Map.of("x:1", new HostPort("127.0.0.1", upstream.port()))));
        router = made;
        String tooLarge = Long.toString(AnnouncedRoute.USUAL_BODY_BYTES + 1);
        Asker webhook = new Asker(made, loops.group().next()).open(Kind.HTTP, "POST", "/in", false,
                "content-length", tooLarge);
        assertThat(webhook.awaitProblem().cause()).isEqualTo(Cause.BODY_TOO_LARGE);

        Asker other = new Asker(made, loops.group().next()).open(Kind.HTTP, "PUT", "/in", false,
                "content-length", tooLarge).send("x");

        assertThat(upstream.accept().readHead()).startsWith("PUT /in HTTP/1.1\r\n");
        other.cancel();
    }

    @Test
    void aBodyOfTheLargestSizePasses() {
        Asker asker = asker(new ByteSize(10), null, 0, upstream.port()).open(Kind.HTTP, "POST", "/x", false);
        asker.send("1234567890").finish();
        Loopback.answer(upstream.accept());

        asker.awaitEnd();
        asker.awaitConsumed(10);
    }

    @Test
    void aRoutesOwnTimeHoldsForTheHead() {
        Asker asker = asker(null, new Timeouts(SHORT, null), 0, upstream.port()).get("/x");
        upstream.accept().readHead();

        asker.awaitHead();
        assertThat(asker.status()).isEqualTo("504");
    }

    @Test
    void whoSaysNothingForTooLongIsCutOff() {
        Asker asker = asker(null, new Timeouts(null, SHORT), 0, upstream.port()).get("/x");
        Peer peer = upstream.accept();
        peer.readHead();
        peer.write(RawUpstream.head("HTTP/1.1 200 OK", "content-type: text/event-stream") + "data: 1\n\n");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(asker.body()).isEqualTo("data: 1\n\n");
        awaitEnd(peer);
    }

    @Test
    void whatWasNeverSentIsTriedAgainWithItsBody() throws IOException {
        int port = freePort();
        Asker asker = asker(null, null, 5, port).open(Kind.HTTP, "POST", "/x", false);
        asker.send("body").finish();

        try (ServerSocket late = new ServerSocket(port, 5, InetAddress.getLoopbackAddress());
                Peer peer = new Peer(late.accept())) {
            assertThat(peer.readHead()).startsWith("POST /x HTTP/1.1\r\n");
            assertThat(peer.read(14)).contains("body");
            peer.write(RawUpstream.head("HTTP/1.1 200 OK", "content-length: 2") + "ok");
            asker.awaitEnd();
        }
        assertThat(asker.status()).isEqualTo("200");
        asker.awaitConsumed(4);
    }

    @Test
    void whatHasNoEffectIsTriedAgain() {
        Asker asker = asker(null, null, 1, upstream.port()).get("/x");
        Peer first = upstream.accept();
        first.readHead();
        first.close();
        Loopback.answer(upstream.accept());

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("ok");
    }

    @Test
    void whatMayHaveHadAnEffectIsNot() {
        Asker asker = asker(null, null, 5, upstream.port()).open(Kind.HTTP, "POST", "/x", true);
        Peer first = upstream.accept();
        first.readHead();
        first.close();

        asker.awaitHead();
        assertThat(asker.status()).isEqualTo("502");
        assertThat(upstream.isLeftAlone(SHORT)).isTrue();
    }

    @Test
    void attemptsEndWithTheAnswerForBrowsers() throws IOException {
        Asker asker = asker(null, null, 2, freePort()).open(Kind.HTTP, "OPTIONS", "/x", true);

        asker.awaitEnd();

        assertThat(asker.status()).isEqualTo("204");
        assertThat(asker.field("access-control-allow-origin")).isEqualTo("*");
    }

    @Test
    void aBodyThatIsTooLargeToKeepIsNotSentAgain() throws IOException {
        Asker asker = asker(null, null, 5, freePort()).open(Kind.HTTP, "POST", "/x", false);

        asker.send("x".repeat(RepeatableRequest.MAX_BYTES)).send("x");

        asker.awaitHead();
        assertThat(asker.status()).isEqualTo("502");
        asker.awaitConsumed(RepeatableRequest.MAX_BYTES + 1);
    }

    @Test
    void whatIsDroppedForAnUpstreamThatIsAwayCountsAsConsumed() throws IOException {
        Asker asker = asker(null, new Timeouts(null, SHORT), 0, freePort()).open(Kind.HTTP, "POST", "/x",
                false);

        asker.send("1234").awaitHead();
        assertThat(asker.status()).isEqualTo("502");
        asker.awaitConsumed(4);
        asker.send("56").finish();

        asker.awaitConsumed(6);
    }

    @Test
    void whatIsTooLargeAfterTheResponseIsDroppedAndCountsAsConsumed() {
        Asker asker = asker(new ByteSize(4), null, 0, upstream.port()).open(Kind.HTTP, "POST", "/x", false);
        asker.send("1234");
        Loopback.answer(upstream.accept());
        asker.awaitEnd();

        asker.send("5").send("6").finish();

        asker.awaitConsumed(6);
    }

    @Test
    void anAddressThatIsNotListedIsRefused() {
        Asker listed = asker(null, null, 0, upstream.port(), "192.0.2.0/24");
        Asker other = new Asker(Objects.requireNonNull(router), loops.group().next());
        Asker unknown = new Asker(Objects.requireNonNull(router), loops.group().next());
        listed.get("/x", "x-forwarded-for", "203.0.113.1, 192.0.2.7, 10.1.1.1");
        other.get("/x", "x-forwarded-for", "192.0.2.7, 203.0.113.1, 10.1.1.1");
        unknown.get("/x");
        Loopback.answer(upstream.accept());

        listed.awaitEnd();
        assertThat(other.awaitProblem().cause()).isEqualTo(Cause.NOT_ALLOWED);
        assertThat(unknown.awaitProblem().cause()).isEqualTo(Cause.NOT_ALLOWED);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static void awaitEnd(Peer peer) {
        int next = peer.read();
        while (next >= 0) {
            next = peer.read();
        }
    }
}
