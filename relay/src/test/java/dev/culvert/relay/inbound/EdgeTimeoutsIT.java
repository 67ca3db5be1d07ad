package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FrameCaller;
import dev.culvert.relay.testing.TlsCaller;
import io.netty.handler.codec.http2.Http2Error;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The edge's time-outs, each short where it is the one that is met. */
class EdgeTimeoutsIT {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final String HALF_A_HEAD = "GET / HTTP/1.1\r\nHost: acme";

    private EdgeFixture edge = new EdgeFixture(EdgeFixture.limits(LONG, LONG, LONG, LONG));
    private TlsCaller caller = edge.caller();

    private void limits(Duration head, Duration body, Duration response, Duration idle) {
        start(EdgeFixture.limits(head, body, response, idle));
    }

    private void start(CallerLimits limits) {
        close();
        edge = new EdgeFixture(limits);
        caller = edge.caller();
    }

    @AfterEach
    void close() {
        caller.close();
        await().untilAsserted(() -> assertThat(edge.listener.connections()).isZero());
        edge.close();
    }

    private void exchange() throws InterruptedException {
        caller.get("/");
        edge.relay.next().ok("ok");
        caller.readUntil("\r\n\r\nok");
    }

    @Test
    void aHeadThatDoesNotEndIs408() {
        limits(SHORT, LONG, LONG, LONG);

        caller.send(HALF_A_HEAD);

        assertThat(caller.readAll()).startsWith("HTTP/1.1 408")
                .contains("request-timeout", "Connection: close");
    }

    @Test
    void aHeadThatDoesNotEndOnAKeptConnectionIs408() throws Exception {
        limits(SHORT, LONG, LONG, LONG);
        exchange();

        caller.send(HALF_A_HEAD);

        assertThat(caller.readAll()).startsWith("HTTP/1.1 408");
    }

    @Test
    void aHeadThatBeganBehindAnotherRequestIs408() throws Exception {
        limits(SHORT, LONG, LONG, LONG);
        caller.send("GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n" + HALF_A_HEAD);
        edge.relay.next().ok("ok");
        caller.readUntil("\r\n\r\nok");

        assertThat(caller.readAll()).startsWith("HTTP/1.1 408");
    }

    /** Beside a request in progress, so that the connection is not idle. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHeadOfHttp2ThatDoesNotEndEndsTheConnection(boolean whole) throws Exception {
        limits(SHORT.multipliedBy(4), LONG, LONG, LONG); // also that of the preface
        try (FrameCaller http2 = edge.http2()) {
            http2.get(1, "/");
            edge.relay.next();
            byte[] block = http2.block(3, FrameCaller.request("GET", "/"));
            if (whole) { // but for a CONTINUATION
                http2.send(FrameCaller.HEADERS, 0, 3, block);
            } else {
                http2.begin(FrameCaller.HEADERS, FrameCaller.END_HEADERS, 3, block, block.length / 2);
            }

            assertThat(http2.next(FrameCaller.GOAWAY, 0).number())
                    .isEqualTo((int) Http2Error.ENHANCE_YOUR_CALM.code());
            assertThat(http2.ends()).isTrue();
        }
    }

    @Test
    void settingsKeepNoIdleConnectionOfHttp2() {
        limits(LONG, LONG, LONG, SHORT.multipliedBy(4));
        caller.close();
        try (FrameCaller http2 = edge.http2()) {
            await().pollInterval(SHORT).untilAsserted(() -> {
                var _ = catchThrowable(() -> http2.send(FrameCaller.SETTINGS, 0, 0, new byte[0]));
                assertThat(edge.listener.connections()).isZero();
            });
        }
    }

    @Test
    void bytesBehindARefusedConnectAreNoRequest() {
        caller.head("CONNECT acme.example:443");
        caller.get("/smuggled");

        assertThat(caller.readAll()).startsWith("HTTP/1.1 405").contains("Connection: close");
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aConnectionThatSaysNothingIsClosed() {
        limits(SHORT, LONG, LONG, LONG);
        caller.send("");

        assertThat(caller.readAll()).isEmpty();
    }

    @Test
    void anIdleConnectionIsClosedWithoutAWord() throws Exception {
        limits(LONG, LONG, LONG, SHORT);
        exchange();

        assertThat(caller.readAll()).isEmpty();
    }

    @Test
    void aBodyThatFallsSilentIs408() throws Exception {
        limits(LONG, SHORT, LONG, LONG);
        caller.head("POST /", "Content-Length: 5").send("he");

        FakeRelay.Exchange exchange = edge.relay.next();

        assertThat(caller.readAll()).startsWith("HTTP/1.1 408").contains("Connection: close");
        assertThat(exchange.cancelled).isNotNull();
    }

    @Test
    void aBodyThatTheUpstreamDoesNotTakeIsNotTheCallersSilence() throws Exception {
        limits(LONG, SHORT, LONG, LONG);
        edge.relay.answer(exchange -> exchange.eager = false);
        caller.head("POST /", "Content-Length: 5").send("he");
        FakeRelay.Exchange exchange = edge.relay.next();
        await().until(() -> exchange.body().equals("he"));

        await().during(SHORT.multipliedBy(3)).until(() -> exchange.cancelled == null);
        exchange.passOn(2);

        assertThat(caller.readAll()).startsWith("HTTP/1.1 408");
    }

    @Test
    void anUpstreamThatDoesNotAnswerIs504AndTheConnectionGoesOn() throws Exception {
        limits(LONG, LONG, SHORT, LONG);
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();

        assertThat(caller.readUntil("}")).startsWith("HTTP/1.1 504")
                .contains("upstream-timeout", "\"hop\":\"upstream\"")
                .doesNotContain("Connection: close");
        await().until(() -> exchange.cancelled != null);
        exchange();
    }

    @Test
    void theTimeForAnAnswerCountsFromTheLastByteForwarded() throws Exception {
        limits(LONG, LONG, SHORT, LONG);
        edge.relay.answer(exchange -> exchange.eager = false);
        caller.head("POST /", "Content-Length: 5").send("hello");
        FakeRelay.Exchange exchange = edge.relay.next();
        await().until(() -> exchange.ended);

        await().during(SHORT.multipliedBy(3)).until(() -> exchange.cancelled == null);
        exchange.passOn(5);

        assertThat(caller.readUntil("}")).startsWith("HTTP/1.1 504");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 5})
    void anUpstreamThatTakesNothingOfABodyIs504(int sent) throws Exception {
        start(EdgeFixture.limits(LONG, SHORT, SHORT, LONG).waiting(SHORT.multipliedBy(3)));
        edge.relay.answer(exchange -> exchange.eager = false);
        caller.head("POST /", "Content-Length: 5").send("hello".substring(0, sent));
        FakeRelay.Exchange exchange = edge.relay.next();

        assertThat(caller.readUntil("}")).startsWith("HTTP/1.1 504")
                .contains("upstream-timeout", "took nothing of the request's body", "\"hop\":\"upstream\"");
        await().until(() -> exchange.cancelled != null);
    }

    @Test
    void aResponseThatHasBegunHasNoTimeout() throws Exception {
        limits(SHORT, SHORT, SHORT, SHORT);
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false, "content-length", "2").body("o");
        caller.readUntil("\r\n\r\no");

        await().during(SHORT.multipliedBy(3)).until(() -> exchange.cancelled == null);
        exchange.body("k").end();

        assertThat(caller.read(1)).isEqualTo("k");
    }

    @Test
    void aResponseThatBeganBeforeItsRequestEndedHasNoTimeout() throws Exception {
        limits(SHORT, SHORT, SHORT, SHORT);
        caller.head("POST /", "Content-Length: 5").send("he");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false).body("a");
        caller.readUntil("a\r\n");
        caller.send("llo");
        await().until(() -> exchange.ended);

        await().during(SHORT.multipliedBy(3)).until(() -> exchange.cancelled == null);
        exchange.body("b");

        assertThat(caller.readUntil("b\r\n")).isEqualTo("1\r\nb\r\n");
    }

    @Test
    void aRequestThatFallsSilentBehindItsResponsesHeadHasNoTimeout() throws Exception {
        limits(SHORT, SHORT, SHORT, SHORT);
        caller.head("POST /", "Content-Length: 6").send("he");
        FakeRelay.Exchange exchange = edge.relay.next();
        await().until(() -> exchange.body().equals("he"));
        exchange.head("200", false, "content-type", "application/x-ndjson").body("a");
        caller.readUntil("a\r\n");

        await().during(SHORT.multipliedBy(3)).until(() -> exchange.cancelled == null);
        caller.send("ll");
        await().until(() -> exchange.body().equals("hell"));
        await().during(SHORT.multipliedBy(3)).until(() -> exchange.cancelled == null);
        caller.send("o!");

        await().until(() -> exchange.ended);
        exchange.body("b").end();
        assertThat(caller.readUntil("0\r\n\r\n")).isEqualTo("1\r\nb\r\n0\r\n\r\n");
    }

    @Test
    void anUpgradedConnectionHasNoTimeout() throws Exception {
        limits(SHORT, SHORT, SHORT, SHORT);
        caller.head("GET /", "Connection: upgrade", "Upgrade: websocket");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("101", false);
        caller.readHead();
        caller.send("a");

        await().during(SHORT.multipliedBy(3)).until(() -> !exchange.isOver());
        exchange.body("b");

        assertThat(caller.read(1)).isEqualTo("b");
    }
}
