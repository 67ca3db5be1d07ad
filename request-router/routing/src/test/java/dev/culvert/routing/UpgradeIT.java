package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.routing.RawUpstream.Peer;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Exchanges that become raw bytes. */
class UpgradeIT {
    private static final String SWITCHING = head("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Accept: y");

    @AutoClose
    private final Loopback loopback = new Loopback(
            Loopback.limits(Duration.ofMillis(500), Duration.ofSeconds(20)));

    private Peer requested() {
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        return peer;
    }

    @Test
    void bytesCrossBothWaysAfterTheSwitch() {
        Asker asker = loopback.upgrade().send("sent before the answer ");
        Peer peer = loopback.upstream.accept();

        assertThat(peer.readHead()).isEqualTo(head("GET /ws HTTP/1.1", "Host: caller.example",
                "Sec-WebSocket-Key: x", "Connection: Upgrade", "Upgrade: websocket"));
        peer.write(SWITCHING + "right behind the head");

        asker.awaitBody("right behind the head");
        assertThat(asker.status()).isEqualTo("101");
        assertThat(asker.field("upgrade")).isEqualTo("websocket");
        assertThat(asker.field("sec-websocket-accept")).isEqualTo("y");
        assertThat(asker.field("connection")).isNull();
        assertThat(peer.read(23)).isEqualTo("sent before the answer ");
        asker.send("\u0000raw\r\n\r\n");
        assertThat(peer.read(8)).isEqualTo("\u0000raw\r\n\r\n");
        peer.write("\r\nHTTP/1.1");
        asker.awaitBody("right behind the head\r\nHTTP/1.1");
        asker.awaitConsumed(31);
        asker.cancel();
    }

    @Test
    void echoOfMuch() {
        Asker asker = loopback.upgrade();
        Peer peer = requested().write(SWITCHING);
        asker.awaitHead();
        Thread echo = Thread.startVirtualThread(() -> peer.echo());

        asker.upload(8 << 20);

        asker.awaitEnd();
        assertThat(asker.received).hasValue(8 << 20);
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(8 << 20));
        assertThat(echo.isAlive()).isFalse();
    }

    @Test
    void theUpstreamMayEndItsSideFirst() {
        Asker asker = loopback.upgrade();
        Peer peer = requested().write(SWITCHING + "last words");
        asker.awaitHead();

        peer.endOutput();
        asker.awaitEnd();
        asker.send("answer").finish();

        assertThat(asker.body()).isEqualTo("last words");
        assertThat(peer.read(7)).isEqualTo("answer");
    }

    @Test
    void theAskerMayEndItsSideFirst() {
        Asker asker = loopback.upgrade();
        Peer peer = requested().write(SWITCHING);
        asker.awaitHead().send("question").finish();

        assertThat(peer.read(9)).isEqualTo("question");
        peer.write("answer").close();

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("answer");
    }

    @Test
    void aResetIsTold() {
        Asker asker = loopback.upgrade();
        Peer peer = requested().write(SWITCHING);
        asker.awaitHead();

        peer.reset();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void aRefusalIsAnOrdinaryResponse() {
        Asker asker = loopback.upgrade().send("too early");
        Peer peer = requested().write(head("HTTP/1.1 403 Forbidden", "content-length: 2") + "no");

        asker.awaitEnd();

        assertThat(asker.status()).isEqualTo("403");
        assertThat(asker.body()).isEqualTo("no");
        asker.awaitConsumed(9);
        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void aRefusalInChunksAndHintsBeforeItPass() {
        Asker asker = loopback.upgrade();
        requested().write(
                head("HTTP/1.1 103 Early Hints") + head("HTTP/1.1 400 Bad", "transfer-encoding: chunked")
                        + "2\r\nno\r\n0\r\n\r\n");

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("no");
        assertThat(asker.informational).hasSize(1);
    }

    @Test
    void noAnswerInTimeIsTold() {
        Asker asker = loopback.upgrade();
        requested();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_TIMEOUT);
    }

    @Test
    void anUpgradeOnAKeptConnectionIsPossible() {
        Peer peer = loopback.keptConnection();

        Asker asker = loopback.upgrade();
        peer.readHead();
        peer.write(SWITCHING + "hello").close();

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("hello");
    }

    @Test
    void anEndedUpgradeRequestStillBecomesRaw() {
        Asker asker = loopback.asker().open(Kind.UPGRADE, "GET", "/", true, "upgrade", "websocket");
        Peer peer = requested().write(SWITCHING + "hello");
        asker.awaitBody("hello");

        asker.send("x");
        assertThat(peer.read(1)).isEqualTo("x");
        asker.cancel();

        assertThat(peer.read()).isEqualTo(-1);
    }
}
