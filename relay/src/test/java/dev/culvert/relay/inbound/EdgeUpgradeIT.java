package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.TlsCaller;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** WebSockets through the edge: their bytes are raw. */
class EdgeUpgradeIT {
    private final EdgeFixture edge = new EdgeFixture();
    private final TlsCaller caller = edge.caller();

    @AfterEach
    void close() {
        caller.close();
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
        assertThat(edge.relay.all).allMatch(FakeRelay.Exchange::isOver);
        edge.close();
    }

    private FakeRelay.Exchange ask() throws InterruptedException {
        caller.head("GET /ws", "Connection: keep-alive, Upgrade", "Upgrade: WebSocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: x");
        return edge.relay.next();
    }

    private FakeRelay.Exchange upgraded() throws InterruptedException {
        FakeRelay.Exchange exchange = ask();
        exchange.head("101", false, "sec-websocket-accept", "y");
        caller.readHead();
        return exchange;
    }

    @Test
    void anUpgradeIsForwardedAndAnswered() throws Exception {
        FakeRelay.Exchange exchange = ask();
        assertThat(exchange.request.kind()).isEqualTo(RelayRequest.Kind.UPGRADE);
        assertThat(exchange.request.ended()).isFalse();
        assertThat(exchange.request.fields().get("upgrade")).hasToString("websocket");
        assertThat(exchange.request.fields().contains("connection")).isFalse();

        exchange.head("101", false, "sec-websocket-accept", "y");

        assertThat(caller.readHead()).startsWith("HTTP/1.1 101 Switching Protocols\r\n")
                .contains("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Accept: y")
                .doesNotContain("content-length", "transfer-encoding");
        exchange.end();
    }

    @Test
    void bytesCrossAsTheyAreInBothDirections() throws Exception {
        FakeRelay.Exchange exchange = upgraded();

        caller.send("GET / HTTP/1.1\r\n\r\n\0\u00ff");
        await().until(() -> exchange.body().endsWith("\u00ff"));
        exchange.body("\0\u00ffHTTP/1.1 200 OK\r\n\r\n");

        assertThat(exchange.body()).isEqualTo("GET / HTTP/1.1\r\n\r\n\0\u00ff");
        assertThat(caller.readUntil("\r\n\r\n")).isEqualTo("\0\u00ffHTTP/1.1 200 OK\r\n\r\n");
    }

    @Test
    void theEndOfTheUpstreamEndsTheConnection() throws Exception {
        FakeRelay.Exchange exchange = upgraded();

        exchange.body("bye").end();

        assertThat(caller.readAll()).isEqualTo("bye");
        await().until(() -> exchange.ended);
    }

    @Test
    void aWebSocketWhoseTunnelDrainsIsTold() throws Exception {
        FakeRelay.Exchange exchange = upgraded();

        exchange.fail(Problem.of(Cause.DRAINING, Hop.TUNNEL, "gone"));

        assertThat(caller.readAll()).isEqualTo("\u0088\u0002\u0003\u00e9");
    }

    @Test
    void aWebSocketWhoseTunnelDrainsWithinAFrameIsReset() throws Exception {
        FakeRelay.Exchange exchange = upgraded();

        exchange.body("\u0081\u0005hel").fail(Problem.of(Cause.DRAINING, Hop.TUNNEL, "gone"));

        assertThat(caller.readAll()).endsWith("<reset>");
    }

    @Test
    void aCallerThatLeavesEndsTheRequestAndTheLastBytesStillArrive() throws Exception {
        FakeRelay.Exchange exchange = upgraded();
        caller.send("bye");

        caller.close();

        await().until(() -> exchange.ended);
        assertThat(exchange.body()).isEqualTo("bye");
        exchange.body("late").end();
        assertThat(exchange.consumed).hasValue(4);
    }

    @Test
    void aRefusedUpgradeReachesTheCallerAndFreesItsStream() throws Exception {
        FakeRelay.Exchange exchange = ask();

        exchange.head("403", false, "content-length", "2").body("no").end();

        assertThat(caller.readAll()).startsWith("HTTP/1.1 403").contains("Connection: close").endsWith("no");
        await().until(exchange::isOver);
    }

    @Test
    void anUpgradeThatFailsIsAnsweredWithItsProblem() throws Exception {
        ask().fail(Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, "refused"));

        assertThat(caller.readUntil("}")).startsWith("HTTP/1.1 502").contains("upstream-refused");
    }

    @Test
    void whatTheUpstreamSaidBeforeItBrokeIsReadBeforeTheEnd() throws Exception {
        FakeRelay.Exchange exchange = upgraded();
        caller.send("not read by the upstream");

        exchange.request.loop()
                .execute(() -> exchange.body("last words")
                        .fail(Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "reset")));

        assertThat(caller.readAll()).isEqualTo("last words<reset>");
    }

    @Test
    void aTunnelThatBreaksResetsTheCaller() throws Exception {
        FakeRelay.Exchange exchange = upgraded();

        exchange.fail(Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost"));

        assertThat(caller.readAll()).isEqualTo("<reset>");
    }

    @Test
    void aStopClosesTheWebSocketBetweenTwoFrames() throws Exception {
        FakeRelay.Exchange exchange = upgraded();
        exchange.body("\u0081\u0002hi\u0081\u0003h");
        assertThat(caller.readUntil("\u0003h")).endsWith("\u0003h");

        var stopped = edge.listener.stop(Duration.ZERO).toFuture();
        assertThat(exchange.isOver()).isFalse();
        exchange.body("ey");

        assertThat(caller.readAll()).isEqualTo("ey\u0088\u0002\u0003\u00e9");
        await().until(exchange::isOver);
        stopped.get(10, TimeUnit.SECONDS);
    }

    @Test
    void aStopDoesNotWaitLongForTheEndOfAFrame() throws Exception {
        FakeRelay.Exchange exchange = upgraded();
        exchange.body("\u0081\u0003h");
        assertThat(caller.readUntil("h")).endsWith("h");

        edge.listener.stop(Duration.ZERO).block(Duration.ofSeconds(10));

        assertThat(edge.listener.connections()).isZero();
        await().until(exchange::isOver);
    }
}
