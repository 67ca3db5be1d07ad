package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.RawUpstream.Peer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which connections are kept, how many, and for how long. */
class UpstreamPoolIT {
    private static final String OK = head("HTTP/1.1 200 OK", "content-length: 2") + "ok";

    @AutoClose
    private final Loopback loopback = new Loopback();

    private List<Asker> occupy(int exchanges) {
        return Stream.generate(loopback::get).limit(exchanges).toList();
    }

    private void assertServesAnother(Peer peer) {
        Asker next = loopback.get();
        Loopback.answer(peer);
        next.awaitEnd();
        assertThat(loopback.relay.openConnections()).isEqualTo(1);
    }

    @Test
    void aConnectionIsKept() {
        Peer peer = loopback.keptConnection();

        assertServesAnother(peer);
        assertServesAnother(peer);
    }

    @Test
    void aConnectionIsKeptAfterABodyAndChunks() {
        Asker asker = loopback.open("POST").send("x").finish();
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        assertThat(peer.read(11)).isEqualTo("1\r\nx\r\n0\r\n\r\n");
        peer.write(head("HTTP/1.1 200 OK", "transfer-encoding: chunked") + "1\r\ny\r\n0\r\nx: y\r\n\r\n");
        asker.awaitEnd();

        assertServesAnother(peer);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok and more",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"})
    void someResponsesEndTheirConnection(String response) {
        Asker asker = loopback.get();
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        peer.write(response);

        asker.awaitEnd();

        assertThat(asker.body()).isEqualTo("ok");
        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void whatNobodyAskedForEndsAKeptConnection() {
        Peer peer = loopback.keptConnection();

        peer.write(OK);

        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void anUnfinishedHeadOnAKeptConnectionIsNotTakenForTheNextAnswer() {
        Peer peer = loopback.keptConnection();
        peer.write("HTTP/1.1 200 OK\r\nx: y\r\n");
        await().pollDelay(Duration.ofMillis(100)).until(() -> true);

        Asker next = loopback.get();
        Loopback.answer(loopback.upstream.accept());

        next.awaitEnd();
        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void anIdempotentRequestOnAConnectionThatDiedIsSentAgainOnce() {
        Peer kept = loopback.keptConnection();
        Asker asker = loopback.get();
        kept.readHead();
        kept.close();

        Peer fresh = loopback.upstream.accept();
        String head = Loopback.answer(fresh);

        asker.awaitEnd();
        assertThat(head).startsWith("GET / ");
    }

    @Test
    void itIsNotSentASecondTime() {
        Peer kept = loopback.keptConnection();
        Asker asker = loopback.get();
        kept.readHead();
        kept.close();

        Peer fresh = loopback.upstream.accept();
        fresh.readHead();
        fresh.close();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void aRequestThatMayHaveHadAnEffectIsNotSentAgain() {
        for (String method : List.of("POST", "DELETE")) {
            Peer kept = loopback.keptConnection();
            Asker asker = loopback.asker().open(Kind.HTTP, method, "/", true);
            kept.readHead();
            kept.close();

            assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
        }
    }

    @Test
    void aRequestWhoseAnswerHasBegunIsNotSentAgain() {
        Peer kept = loopback.keptConnection();
        Asker asker = loopback.get();
        kept.readHead();
        kept.write("HTTP/1.1").close();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void connectionsAndThoseWhoWaitAreBounded() {
        List<Asker> askers = occupy(6);
        Asker tooMany = loopback.get();

        assertThat(tooMany.awaitProblem().cause()).isEqualTo(Cause.OVERLOADED);
        assertThat(tooMany.awaitProblem().hop()).isEqualTo(Hop.ROUTER);
        assertThat(tooMany.awaitProblem().retryAfterSeconds()).isPositive();
        List<Peer> peers = Stream.generate(loopback.upstream::accept).limit(4).toList();
        assertThat(loopback.relay.openConnections()).isEqualTo(4);
        peers.forEach(Loopback::answer);
        askers.subList(0, 4).forEach(Asker::awaitEnd);
        Stream.of(0, 1).forEach(i -> Loopback.answer(peers.get(i)));
        askers.forEach(Asker::awaitEnd);
    }

    @Test
    void waitingForAConnectionIsBoundedInTime() {
        assertThat(occupy(4)).hasSize(4);

        assertThat(loopback.get().awaitProblem().cause()).isEqualTo(Cause.OVERLOADED);
    }

    @Test
    void thoseWhoWaitGetAConnectionWhenOneBreaks() {
        List<Asker> askers = occupy(5);
        List<Peer> peers = Stream.generate(loopback.upstream::accept).limit(4).toList();

        peers.getFirst().close();

        Loopback.answer(loopback.upstream.accept());
        askers.getLast().awaitEnd();
    }

    @Test
    void oneWhoGivesUpWaitingLeavesNothing() {
        assertThat(occupy(4)).hasSize(4);
        Asker waiting = loopback.open("POST").send("held");

        waiting.cancel();

        assertThat(loopback.relay.bufferedBytes()).isZero();
    }

    @Test
    void idleConnectionsAreBounded() {
        List<Asker> askers = occupy(4);
        List<Peer> peers = Stream.generate(loopback.upstream::accept).limit(4).toList();

        peers.forEach(Loopback::answer);
        askers.forEach(Asker::awaitEnd);

        await().untilAsserted(() -> assertThat(loopback.relay.openConnections()).isEqualTo(2));
    }

    @Test
    void aConnectionWhoseAskerGaveUpWhileItWasMadeIsKept() {
        var one = new UpstreamLimits(1, 1, 1, 1, Duration.ofSeconds(5), Loopback.LONG, Loopback.LONG);
        try (var narrow = new Loopback(one)) {
            narrow.asker().getAndCancel();
            Asker next = narrow.get();

            Loopback.answer(narrow.upstream.accept());

            next.awaitEnd();
        }
    }

    @Test
    void idleConnectionsAreClosedAfterAWhile() {
        try (var quick = new Loopback(Loopback.limits(Loopback.LONG, Duration.ofMillis(200)))) {
            Peer peer = quick.keptConnection();

            assertThat(peer.read()).isEqualTo(-1);
            await().untilAsserted(() -> assertThat(quick.relay.openConnections()).isZero());
        }
    }

    @Test
    void idleConnectionsAreClosedBeforeTheUpstreamClosesThem() {
        Asker asker = loopback.get();
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        peer.write(head("HTTP/1.1 200 OK", "keep-alive: max=100, timeout=1", "content-length: 0"));
        asker.awaitEnd();

        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void aDrainEndsIdleConnectionsAndLetsExchangesFinish() {
        Asker running = loopback.get();
        Peer busy = loopback.upstream.accept();
        Peer kept = loopback.keptConnection();

        loopback.relay.drain();

        assertThat(kept.read()).isEqualTo(-1);
        assertThat(loopback.get().awaitProblem().cause()).isEqualTo(Cause.DRAINING);
        Loopback.answer(busy);
        running.awaitEnd();
        assertThat(busy.read()).isEqualTo(-1);
    }

    @Test
    void closingEndsEverything() {
        List<Asker> askers = occupy(6);
        List<Peer> peers = Stream.generate(loopback.upstream::accept).limit(4).toList();
        peers.forEach(Peer::readHead);
        peers.getFirst().write(head("HTTP/1.1 200 OK", "content-length: 10") + "part");
        askers.getFirst().awaitHead();

        loopback.relay.close();

        askers.forEach(asker -> assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.DRAINING));
        peers.forEach(peer -> assertThat(peer.read()).isEqualTo(-1));
    }
}
