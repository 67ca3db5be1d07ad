package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.routing.RawUpstream.Peer;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Responses that begin or end before their requests have: full duplex, early answers, ends on one side alone. */
class HalfClosedExchangeIT {
    @AutoClose
    private final Loopback loopback = new Loopback(
            Loopback.limits(Duration.ofMillis(300), Duration.ofSeconds(20)));

    private Peer requested() {
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        return peer;
    }

    @Test
    void bothBodiesRunAtTheSameTime() {
        Asker asker = loopback.open("POST");
        Peer peer = requested().write(head("HTTP/1.1 200 OK", "transfer-encoding: chunked"));

        for (String word : new String[]{"one ", "two ", "six "}) {
            asker.send(word);
            assertThat(peer.read(9)).isEqualTo("4\r\n" + word + "\r\n");
            peer.write("4\r\n" + word + "\r\n");
            asker.awaitBody(asker.body().contains(word) ? asker.body() : asker.body() + word);
        }
        asker.finish();
        assertThat(peer.read(5)).isEqualTo("0\r\n\r\n");
        peer.write("0\r\n\r\n");

        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("one two six ");
    }

    @Test
    void theRequestGoesOnBehindACompleteResponseAndItsConnectionIsNotKept() {
        Asker asker = loopback.open("POST").send("a");
        Peer peer = requested();
        peer.read(6);
        peer.write(head("HTTP/1.1 200 OK", "content-length: 2") + "ok");
        asker.awaitEnd();

        asker.send("b");
        assertThat(peer.read(6)).isEqualTo("1\r\nb\r\n");
        asker.finish();

        assertThat(peer.read(5)).isEqualTo("0\r\n\r\n");
        assertThat(peer.read()).isEqualTo(-1);
        asker.awaitConsumed(2);
    }

    @Test
    void aCancelBehindACompleteResponseClosesItsConnection() {
        Asker asker = loopback.open("POST").send("a");
        Peer peer = requested().write(head("HTTP/1.1 413 Too Large", "content-length: 0"));
        asker.awaitEnd();
        peer.read(6);

        asker.cancel();

        assertThat(peer.read()).isEqualTo(-1);
        Asker next = loopback.get();
        Loopback.answer(loopback.upstream.accept());
        next.awaitEnd();
    }

    @Test
    void anAnswerBeforeTheRequestsEndIsSeenThoughTheUpstreamDropsTheRest() {
        Asker asker = loopback.open("POST").send("a");
        Peer peer = requested();
        peer.write(head("HTTP/1.1 413 Too Large", "content-length: 5", "connection: close") + "large")
                .close();

        asker.awaitEnd();
        asker.send("more").send("and more").finish();

        assertThat(asker.status()).isEqualTo("413");
        assertThat(asker.body()).isEqualTo("large");
        asker.awaitConsumed(13);
    }

    @Test
    void anAnswerIsSeenThoughTheUploadBreaksFirst() {
        Asker asker = loopback.open("POST");
        asker.stalled = true;
        asker.upload(64 << 20);
        Peer peer = requested();
        peer.write(head("HTTP/1.1 413 Too Large", "content-length: 5") + "large").close();

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("413");
        asker.cancel();
    }

    @Test
    void anUploadThatBreaksWithoutAnswerIsTold() {
        Asker asker = loopback.open("POST");
        asker.upload(64 << 20);
        Peer peer = requested();

        peer.reset();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void anUpstreamMayEndItsSideAndStillRead() {
        Asker asker = loopback.open("POST").send("a");
        Peer peer = requested();
        peer.read(6);
        peer.write(head("HTTP/1.0 200 OK") + "done").endOutput();
        asker.awaitEnd();

        asker.send("b").finish();

        assertThat(peer.read(11)).isEqualTo("1\r\nb\r\n0\r\n\r\n");
    }

    @Test
    void theTimeToTheHeadCountsFromTheLastRequestByte() throws Exception {
        Asker asker = loopback.open("POST").send("a");
        requested();

        assertThat(loopback.upstream.isLeftAlone(Duration.ofMillis(700))).isTrue();
        assertThat(asker.problem).isNull();
        long before = System.nanoTime();
        asker.finish();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isBetween(Duration.ofMillis(250),
                Duration.ofSeconds(5));
    }

    @Test
    void aBodyMayTakeLongerThanTheHead() {
        Asker asker = loopback.get();
        Peer peer = requested().write(head("HTTP/1.1 200 OK", "content-length: 2"));

        assertThat(loopback.upstream.isLeftAlone(Duration.ofMillis(700))).isTrue();
        peer.write("ok");

        asker.awaitEnd();
    }
}
