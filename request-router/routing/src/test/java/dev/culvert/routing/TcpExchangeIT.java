package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.Caller;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.ResponseCredit;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.routing.RawUpstream.Peer;
import dev.culvert.routing.RoutingConfig.Policy;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Raw connections and the upstreams that they may reach. */
class TcpExchangeIT {
    private static final Duration SHORT = Duration.ofMillis(50);

    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream upstream = new RawUpstream();
    private final RawUpstream other = new RawUpstream();
    private final Router router = Router.create(
            new RoutingConfig(List.of(),
                    List.of(TcpRouteConfig.named("db", HostPort.parse("postgres.db.svc:5432")),
                            new TcpRouteConfig(null, "K8s.example.com", at(upstream.port())),
                            TcpRouteConfig.named("away", at(1))),
                    Policy.refusing(), Map.of("postgres.db.svc:5432", List.of(at(upstream.port())))),
            Loopback.limits(Loopback.LONG, Loopback.LONG));

    TcpExchangeIT() {
        Leaks.watch();
    }

    private static HostPort at(int port) {
        return new HostPort("127.0.0.1", port);
    }

    @AfterEach
    void nothingIsLeft() {
        router.close();
        Leaks.assertNone(router::bufferedBytes, router::openConnections);
        upstream.close();
        other.close();
        loops.dispose();
    }

    private Asker asker() {
        return new Asker(router, loops.group().next());
    }

    private Asker ask(String service) {
        return asker().open(Kind.TCP, "CONNECT", "/", false, RelayRequest.SERVICE.toString(), service);
    }

    /** The first bytes come before there is a connection. */
    private Asker db() {
        return ask("db").send("hello").awaitHead();
    }

    private Peer peer() {
        Peer peer = upstream.accept();
        assertThat(peer.read(5)).isEqualTo("hello");
        return peer;
    }

    @Test
    void bytesCrossAsTheyAre() {
        Asker asker = db();
        Peer peer = peer();
        assertThat(asker.status()).isEqualTo("200");

        peer.write("\u0016\u0003\u0000\r\n\r\n");
        asker.awaitBody("\u0016\u0003\u0000\r\n\r\n");
        asker.send("\u00ff\u0000");
        assertThat(peer.read(2)).isEqualTo("\u00ff\u0000");

        asker.finish();
        assertThat(peer.read()).isEqualTo(-1);
        peer.close();
        asker.awaitEnd();
    }

    @Test
    void aHostThatIsListedAsAWholeIsFound() {
        var listed = TcpTable.of(List.of(new TcpRouteConfig(null, "k8s.example.com", at(1)),
                TcpRouteConfig.named("k8s", at(2))));
        var asked = RelayRequest.tcp("k8s.example.com", "k8s", loops.group().next().next(),
                Caller.UNKNOWN);

        assertThat(listed.match(asked.fields())).isEqualTo(new UpstreamAddress(false, false, "127.0.0.1", 1));
    }

    @Test
    void theUpstreamMayEndItsSideFirst() {
        Asker asker = db();
        Peer peer = peer().write("last words");

        peer.endOutput();
        asker.awaitEnd();
        asker.send("answer").finish();

        assertThat(asker.body()).isEqualTo("last words");
        assertThat(peer.read(6)).isEqualTo("answer");
        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void theAskerMayEndItsSideFirst() {
        Asker asker = ask("db").send("hello").finish();
        Peer peer = peer();

        assertThat(peer.read()).isEqualTo(-1);
        peer.write("answer").close();

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("answer");
    }

    @Test
    void aResetIsTold() {
        Asker asker = db();
        peer().reset();

        Problem problem = asker.awaitProblem();
        assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_RESET);
        assertThat(problem.hop()).isEqualTo(Hop.UPSTREAM);
    }

    @Test
    void whatTheUpstreamSaidBeforeItsResetIsPassedOnFirst() {
        int first = ResponseCredit.HIGH_WATER_BYTES;
        int second = 20 << 10; // stays with the kernel: the asker has consumed nothing of the first
        Asker asker = db();
        asker.stalled = true;
        Peer peer = peer();
        peer.writePattern(first, new AtomicLong());
        await().until(() -> asker.received.get() == first);
        peer.write("x".repeat(second)).reset();

        asker.resume();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
        assertThat(asker.received).hasValue(first + second);
    }

    @Test
    void anUpstreamThatTakesNothingMoreIsReadToItsEnd() {
        Asker asker = db();
        asker.stalled = true;
        Peer peer = peer();
        peer.writePattern(ResponseCredit.HIGH_WATER_BYTES, new AtomicLong());
        await().until(() -> asker.received.get() == ResponseCredit.HIGH_WATER_BYTES);
        peer.write("last words").reset();
        asker.send("what it does not take");

        asker.resume();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
        assertThat(asker.received).hasValue(ResponseCredit.HIGH_WATER_BYTES + "last words".length());
    }

    @Test
    void anAskerThatGivesUpResetsTheUpstream() throws Exception {
        Asker asker = ask("db").send("hello");
        Socket socket = upstream.acceptSocket();
        socket.getInputStream().readNBytes(5);
        asker.awaitHead().cancel();

        await().untilAsserted(() -> assertThat(catchMessage(socket)).contains("reset"));
        socket.close();
    }

    private static String catchMessage(Socket socket) {
        try {
            return "read " + socket.getInputStream().read();
        } catch (java.io.IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void anAskerMayGiveUpBeforeThereIsAConnection() {
        loops.group().next().submit(() -> ask("db").send("hello").cancel()).syncUninterruptibly();

        await().until(() -> router.openConnections() == 0);
    }

    @Test
    void whoGivesUpDuringTheDialCostsNoAddressAnything() {
        var config = new RoutingConfig(List.of(),
                List.of(TcpRouteConfig.named("two", HostPort.parse("two:1"))),
                Policy.refusing(), Map.of("two:1", List.of(at(upstream.port()), at(other.port()))));
        EventLoop loop = loops.group().next();
        try (Router over = Router.create(config, Loopback.limits(Loopback.LONG, Loopback.LONG))) {
            askTwo(over, loop).awaitHead().cancel();
            assertThat(upstream.isLeftAlone(SHORT)).isNotEqualTo(other.isLeftAlone(SHORT));

            for (int i = 0; i < 20; i++) {
                loop.submit(() -> askTwo(over, loop).cancel()).syncUninterruptibly();
                await().until(() -> over.openConnections() == 0);
            }

            assertThat(over.ejectedAddresses()).isZero();
            assertThat(upstream.isLeftAlone(SHORT)).isTrue();
            assertThat(other.isLeftAlone(SHORT)).isTrue();
        }
    }

    private static Asker askTwo(Router over, EventLoop loop) {
        return new Asker(over, loop).open(Kind.TCP, "CONNECT", "/", false, RelayRequest.SERVICE.toString(),
                "two");
    }

    @Test
    void whatTheUpstreamTakesNoMoreIsDroppedBehindItsEnd() {
        Asker asker = db();
        peer().write("all there is").close();
        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("all there is");

        asker.send(Unpooled.buffer(4096).writeZero(4096));
        asker.awaitConsumed(5 + 4096);
        await().untilAsserted(() -> {
            asker.send(Unpooled.buffer(4096).writeZero(4096));
            assertThat(asker.requestConsumed.get()).isEqualTo(asker.requestGiven.get());
        });
        asker.finish();
    }

    @Test
    void whatIsNotListedIsRefused() {
        for (String service : List.of("k8s", "DB", "postgres.db.svc")) {
            Problem problem = ask(service).awaitProblem();
            assertThat(problem.cause()).isEqualTo(Cause.NOT_ALLOWED);
            assertThat(problem.hop()).isEqualTo(Hop.ROUTER);
        }
        assertThat(asker().open(Kind.TCP, "CONNECT", "/", false).awaitProblem().cause())
                .isEqualTo(Cause.NOT_ALLOWED);
    }

    @Test
    void oneUpstreamForEverythingTakesNoRawConnections() {
        try (var single = SingleUpstream.create(URI.create("http://127.0.0.1:" + upstream.port()))) {
            Asker asker = new Asker(single, loops.group().next()).open(Kind.TCP, "CONNECT", "/", false,
                    RelayRequest.SERVICE.toString(), "db");

            assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.NOT_ALLOWED);
        }
    }

    @Test
    void anUpstreamThatIsAwayIsTold() {
        assertThat(ask("away").send("hello").awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
    }

    @Test
    void noMoreConnectionsAreMadeThanThereMayBe() {
        List<Asker> eight = java.util.stream.IntStream.range(0, 8).mapToObj(i -> db()).toList();

        assertThat(ask("db").awaitProblem().cause()).isEqualTo(Cause.OVERLOADED);

        eight.forEach(Asker::cancel);
        await().until(() -> router.openConnections() == 0);
        db().cancel();
    }

    @Test
    void echoOfMuch() {
        Asker asker = ask("db").awaitHead();
        Peer peer = upstream.accept();
        Thread echo = Thread.startVirtualThread(peer::echo);

        asker.upload(16 << 20);

        asker.awaitEnd();
        assertThat(asker.received).hasValue(16 << 20);
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(16 << 20));
        await().until(() -> !echo.isAlive());
    }

    @Test
    void anUpstreamIsReadNoFasterThanTheAskerTakes() {
        Asker asker = db();
        asker.stalled = true;
        Peer peer = peer();
        var written = new AtomicLong();
        Thread writer = Thread.startVirtualThread(() -> peer.writePattern(32 << 20, written));

        await().during(Duration.ofMillis(300)).until(() -> asker.received.get() <= 256 << 10);
        assertThat(writer.isAlive()).isTrue();
        assertThat(router.bufferedBytes()).isLessThanOrEqualTo(256 << 10);

        asker.resume();
        await().until(() -> asker.received.get() == 32 << 20);
        asker.cancel();
    }

    @Test
    void anUpstreamThatEndsIsReadNoFasterEither() {
        for (boolean askerEndsFirst : new boolean[]{false, true}) {
            Asker asker = db();
            asker.stalled = true;
            Peer peer = peer();
            if (askerEndsFirst) {
                asker.finish();
                assertThat(peer.read()).isEqualTo(-1);
            }
            Thread writer = Thread.startVirtualThread(() -> peer.writePattern(1 << 20, new AtomicLong()));
            await().until(() -> asker.received.get() > 0 && !writer.isAlive());
            peer.close();

            await().during(Duration.ofMillis(200)).until(() -> asker.received.get() <= 256 << 10);
            assertThat(asker.ended).isFalse();

            asker.resume();
            asker.awaitEnd();
            assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(1 << 20));
            if (!askerEndsFirst) {
                asker.cancel();
            }
        }
    }

    @Test
    void theEndOfTheRouterResetsConnections() {
        Asker asker = db();
        Peer peer = peer();
        router.close();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.DRAINING);
        assertThat(peer.read()).isEqualTo(-1);
    }
}
