package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.TlsCaller;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A caller's connection over a real socket; the runtime is the test's. */
class EdgeConnectionIT {
    private static final Problem LOST = Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost");

    private final EdgeFixture edge = new EdgeFixture();
    private final TlsCaller caller = edge.caller();

    @AfterEach
    void close() {
        caller.close();
        await().untilAsserted(() -> {
            assertThat(edge.listener.connections()).isZero();
            assertThat(edge.active()).isZero();
        });
        assertThat(edge.relay.all).allMatch(FakeRelay.Exchange::isOver);
        edge.close();
    }

    @Test
    void aCallerThatShakesHandsWhileTheEdgeDrainsIsServed() throws Exception {
        await().until(() -> edge.listener.connections() == 1);
        CompletableFuture<?> stopped = edge.listener.stop(Duration.ofSeconds(10)).toFuture();
        caller.get("/");
        edge.relay.next().ok("last");

        assertThat(caller.readAll()).contains("Connection: close").endsWith("last");
        stopped.join();
    }

    @Test
    void aCallerThatSaysNothingDoesNotHoldUpTheDrain() {
        await().until(() -> edge.listener.connections() == 1);

        edge.listener.stop(Duration.ofDays(1)).block(EdgeProtocol.LAST_HANDSHAKES.multipliedBy(2));
    }

    @Test
    void aKeptConnectionServesOneRequestAfterAnother() throws Exception {
        for (String path : new String[]{"/1", "/2", "/3"}) {
            caller.get(path);
            FakeRelay.Exchange exchange = edge.relay.next();
            exchange.ok("answer to " + exchange.path());

            assertThat(caller.readHead()).startsWith("HTTP/1.1 200 OK\r\n").doesNotContain("Connection:");
            assertThat(caller.read(12)).isEqualTo("answer to " + path);
        }
    }

    @Test
    void pipelinedRequestsAreServedOneAfterAnotherInOrder() throws Exception {
        String request = "GET /%d HTTP/1.1\r\nHost: acme.example\r\n\r\n";
        caller.send(request.formatted(1) + request.formatted(2) + request.formatted(3));

        for (int i = 1; i <= 3; i++) {
            FakeRelay.Exchange exchange = edge.relay.next();
            assertThat(exchange.path()).isEqualTo("/" + i);
            assertThat(edge.relay.all).hasSize(i);
            exchange.ok(String.valueOf(i));
            caller.readHead();
            assertThat(caller.read(1)).isEqualTo(String.valueOf(i));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 2\r\n\r\nhi",
            "POST / HTTP/1.1\r\nHost: acme.example\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "GET / HTTP/1.0\r\nHost: acme.example\r\n\r\n"})
    void aCallerThatSendsCloseNotifyIsAnswered(String request) throws Exception {
        caller.send(request).closeNotify();
        FakeRelay.Exchange exchange = edge.relay.next();
        await().until(() -> exchange.ended);
        exchange.head("200", false, "content-length", "200000").body("x".repeat(100_000));
        assertThat(caller.readHead()).startsWith("HTTP/1.1 200");
        exchange.body("y".repeat(100_000)).end();

        assertThat(caller.readAll()).hasSize(200_000).endsWith("yy");
        assertThat(exchange.cancelled).isNull();
    }

    @Test
    void pipelinedRequestsInFrontOfACloseNotifyAreAnswered() throws Exception {
        String request = "GET /%d HTTP/1.1\r\nHost: acme.example\r\n\r\n";
        caller.send(request.formatted(1) + request.formatted(2) + request.formatted(3)).closeNotify();

        for (int i = 1; i <= 3; i++) {
            edge.relay.next().ok("answer " + i);
        }

        assertThat(caller.readAll()).contains("answer 1", "answer 2").endsWith("answer 3");
    }

    @Test
    void aBodyOfTwoOctetsIsNotTakenForAnAlert() throws Exception {
        caller.head("POST /", "Content-Length: 4").send("ab");
        FakeRelay.Exchange exchange = edge.relay.next();
        await().until(() -> exchange.body().equals("ab"));
        caller.send("cd");
        await().until(() -> exchange.ended);
        caller.send("GE").send("T /2 HTTP/1.1\r\nHost: acme.example\r\n\r\n");
        exchange.ok("1");
        edge.relay.next().ok("2");

        assertThat(caller.readUntil("\r\n\r\n2")).contains("\r\n\r\n1");
    }

    @Test
    void aCloseNotifyWithinARequestEndsIt() throws Exception {
        caller.head("POST /", "Content-Length: 4").send("abc").closeNotify();
        FakeRelay.Exchange exchange = edge.relay.next();

        await().until(() -> exchange.cancelled != null);
    }

    @Test
    void aBodyThatFollowsAPipelinedHeadGoesWithIt() throws Exception {
        caller.send("GET /1 HTTP/1.1\r\nHost: acme.example\r\n\r\n"
                + "POST /2 HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 5\r\n\r\nhello"
                + "POST /3 HTTP/1.1\r\nHost: acme.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");

        edge.relay.next().ok("1");
        FakeRelay.Exchange second = edge.relay.next();
        second.ok("2");
        FakeRelay.Exchange third = edge.relay.next();
        caller.send("0\r\nX-Sum: 9\r\n\r\n");
        await().until(() -> third.ended);

        assertThat(second.body()).isEqualTo("hello");
        assertThat(third.body()).isEqualTo("abc");
        assertThat(Objects.requireNonNull(third.trailers).get("x-sum")).hasToString("9");
        third.ok("3");
        assertThat(caller.readUntil("\r\n\r\n3")).contains("\r\n\r\n1", "\r\n\r\n2");
    }

    @Test
    void anEarlyResponseReachesTheCallerAndTheConnectionGoesOn() throws Exception {
        caller.head("POST /", "Content-Length: 100000").send("begun");
        FakeRelay.Exchange exchange = edge.relay.next();

        exchange.head("403", false, "content-length", "2").body("no").end();

        assertThat(caller.readUntil("\r\n\r\nno")).startsWith("HTTP/1.1 403");
        await().until(() -> exchange.cancelled != null);
        caller.send(new byte[100_000 - 5]).get("/next");
        edge.relay.next().ok("ok");
        assertThat(caller.readUntil("\r\n\r\nok")).startsWith("HTTP/1.1 200");
    }

    /** Where the next request would begin is unknown. */
    @ParameterizedTest
    @ValueSource(strings = {"0\n\r\n", "0\r\nX-Bare: a\n\r\n", "zz\r\n"})
    void bytesBehindAMalformedBodyAreNoRequest(String malformed) throws Exception {
        caller.head("POST /", "Transfer-Encoding: chunked").send("1\r\na\r\n");
        edge.relay.next().head("403", false, "content-length", "2").body("no").end();
        caller.readUntil("\r\n\r\nno");

        caller.send(malformed + "GET /next HTTP/1.1\r\nHost: acme.example\r\n\r\n");

        assertThat(caller.readAll()).isEmpty();
        await().until(() -> edge.listener.connections() == 0);
        assertThat(edge.relay.all).hasSize(1);
    }

    @Test
    void bothBodiesFlowAtOnce() throws Exception {
        caller.head("POST /", "Transfer-Encoding: chunked").send("1\r\na\r\n");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false).body("A");

        assertThat(caller.readUntil("1\r\nA\r\n")).contains("Transfer-Encoding: chunked");
        caller.send("1\r\nb\r\n");
        await().until(() -> exchange.body().equals("ab"));
        exchange.body("B");
        assertThat(caller.readUntil("1\r\nB\r\n")).isEqualTo("1\r\nB\r\n");
        caller.send("0\r\n\r\n");
        await().until(() -> exchange.ended);
        exchange.end();
        assertThat(caller.readUntil("0\r\n\r\n")).isEqualTo("0\r\n\r\n");
    }

    @Test
    void aResponseWithoutLengthIsFlushedPerWrite() throws Exception {
        caller.get("/events");
        FakeRelay.Exchange exchange = edge.relay.next();

        exchange.head("200", false, "content-type", "text/event-stream");
        assertThat(caller.readHead()).contains("Transfer-Encoding: chunked");
        exchange.body("data: 1\n\n");
        assertThat(caller.readUntil("\n\n\r\n")).isEqualTo("9\r\ndata: 1\n\n\r\n");
        exchange.body("data: 2\n\n");
        assertThat(caller.readUntil("\n\n\r\n")).isEqualTo("9\r\ndata: 2\n\n\r\n");
        exchange.end("x-sum", "9");
        assertThat(caller.readUntil("\r\n\r\n")).isEqualTo("0\r\nX-Sum: 9\r\n\r\n");
    }

    @Test
    void answersToHeadAnd204And304HaveNoBody() throws Exception {
        caller.head("HEAD /");
        edge.relay.next().head("200", true, "content-length", "1000");
        assertThat(caller.readHead()).contains("Content-Length: 1000");
        caller.get("/204");
        edge.relay.next().head("204", true);
        assertThat(caller.readHead()).doesNotContain("content-length", "transfer-encoding");
        caller.get("/304");
        edge.relay.next().head("304", true, "etag", "\"a\"");
        assertThat(caller.readHead()).doesNotContain("content-length", "transfer-encoding");
        caller.get("/empty");
        edge.relay.next().head("200", true);
        assertThat(caller.readHead()).contains("Content-Length: 0");
        caller.get("/last");
        edge.relay.next().ok("ok");
        assertThat(caller.readUntil("\r\n\r\nok")).startsWith("HTTP/1.1 200");
    }

    @Test
    void aProblemInAnswerToHeadHasNoBody() throws Exception {
        caller.head("HEAD /");
        edge.relay.next().fail(LOST);
        assertThat(caller.readHead()).startsWith("HTTP/1.1 502");
        caller.get("/next");
        edge.relay.next().ok("ok");
        assertThat(caller.readUntil("\r\n\r\nok")).startsWith("HTTP/1.1 200");
    }

    @Test
    void a100ContinueIsTheUpstreams() throws Exception {
        caller.head("POST /", "Content-Length: 2", "Expect: 100-continue");
        FakeRelay.Exchange exchange = edge.relay.next();
        assertThat(exchange.request.fields().get("expect")).hasToString("100-continue");

        exchange.informational("100");
        assertThat(caller.readHead()).isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
        caller.send("hi");
        await().until(() -> exchange.ended);
        exchange.ok("ok");

        assertThat(caller.readUntil("\r\n\r\nok")).startsWith("HTTP/1.1 200").doesNotContain("connection");
        assertThat(exchange.body()).isEqualTo("hi");
    }

    @Test
    void anAnswerInsteadOf100ContinueEndsTheConnectionSinceTheBodyMayNeverCome() throws Exception {
        caller.head("POST /", "Content-Length: 2", "Expect: 100-continue");
        edge.relay.next().head("413", false, "content-length", "2").body("no").end();

        assertThat(caller.readUntil("\r\n\r\nno")).contains("Connection: close");
    }

    @Test
    void earlyHintsReachTheCaller() throws Exception {
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.informational("103").informational("103").ok("ok");

        assertThat(caller.readUntil("\r\n\r\nok")).startsWith(
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n");
    }

    @Test
    void aCallerThatLeavesMidResponseFreesEverything() throws Exception {
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false).body("begun");
        caller.readUntil("begun");

        caller.close();

        await().until(() -> exchange.cancelled != null);
        exchange.body("late").end();
    }

    @Test
    void aCallerThatLeavesMidRequestFreesEverything() throws Exception {
        caller.head("POST /", "Content-Length: 5").send("he");
        FakeRelay.Exchange exchange = edge.relay.next();
        await().until(() -> exchange.body().equals("he"));

        caller.close();

        await().until(() -> exchange.cancelled != null);
        assertThat(exchange.ended).isFalse();
    }

    @Test
    void aCallerThatDoesNotReadLeavesTheResponseUnacknowledged() throws Exception {
        int piece = 64 << 10;
        int pieces = 256;
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false, "content-length", String.valueOf(piece * pieces));

        for (int i = 0; i < pieces; i++) {
            exchange.body(piece);
        }
        exchange.head("200", false); // behind all of it on the loop
        long taken = exchange.consumed.get();

        assertThat(taken).isLessThan((long) piece * pieces);
        await().during(Duration.ofMillis(200))
                .until(() -> exchange.consumed.get() < (long) piece * pieces);
        caller.readHead();
        caller.read(piece * pieces);
        exchange.end();
        await().until(() -> exchange.consumed.get() == (long) piece * pieces);
    }

    @Test
    void aRequestBodyThatNobodyTakesIsNotRead() throws Exception {
        edge.relay.answer(exchange -> exchange.eager = false);
        int bytes = 16 << 20;
        caller.head("POST /", "Content-Length: " + bytes);
        Thread sender = Thread.ofVirtual().start(() -> caller.send(new byte[bytes]));
        FakeRelay.Exchange exchange = edge.relay.next();

        await().until(() -> exchange.receivedBytes.get() >= 64 << 10);
        await().during(Duration.ofMillis(200)).until(() -> exchange.receivedBytes.get() < 512 << 10);

        exchange.eager = true;
        exchange.passOn((int) exchange.receivedBytes.get());
        await().until(() -> exchange.ended);
        sender.join();
        assertThat(exchange.receivedBytes).hasValue(bytes);
        exchange.ok("ok");
        caller.readUntil("\r\n\r\nok");
    }

    @Test
    void aFailureBehindTheHeadResetsTheConnection() throws Exception {
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false).body("begun");
        caller.readUntil("begun\r\n");

        exchange.fail(LOST);

        assertThat(caller.readAll()).isEqualTo("<reset>");
    }

    @Test
    void whatCameBeforeAFailureIsReadBeforeIt() {
        edge.relay.answer(exchange -> exchange.head("200", false).body("begun").fail(LOST));

        assertThat(caller.get("/").readAll()).startsWith("HTTP/1.1 200").endsWith("begun\r\n<reset>");
    }

    @Test
    void aFailureBehindAHeadWithoutLengthResetsTheConnectionOfHttp10() throws Exception {
        caller.send("GET / HTTP/1.0\r\nHost: acme.example\r\n\r\n");
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.head("200", false).body("begun");
        caller.readUntil("begun");

        exchange.fail(LOST);

        assertThat(caller.readAll()).isEqualTo("<reset>");
    }

    @Test
    void aRefusalIsReadableThoughTheBodyIsStillBeingSent() {
        int bytes = 512 << 10;
        caller.send("POST / HTTP/1.1\r\nHost: other.example\r\nContent-Length: " + bytes + "\r\n\r\n");
        caller.send(new byte[bytes]);

        String answer = caller.readAll();

        assertThat(answer).startsWith("HTTP/1.1 404").contains("Connection: close", "unknown-host");
        assertThat(answer).doesNotContain("<");
    }

    @Test
    void aRefusedCallerMayFinishSendingAndReadsWhy() {
        caller.send("GET / HTTP/1.1\r\nHost: acme.example\r\nHost: acme.example\r\n\r\n");
        assertThat(caller.readHead()).startsWith("HTTP/1.1 400").contains("Connection: close");

        for (int i = 0; i < 100; i++) {
            caller.send(new byte[4096]);
        }

        assertThat(caller.readAll()).contains("urn:culvert:problem:bad-request").endsWith("}");
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aDrainClosesIdleConnectionsAndLetsTheOthersFinish() throws Exception {
        TlsCaller idle = edge.caller();
        idle.get("/");
        edge.relay.next().ok("ok");
        idle.readUntil("\r\n\r\nok");
        caller.get("/");
        FakeRelay.Exchange exchange = edge.relay.next();

        var stopped = edge.listener.stop(Duration.ofSeconds(10)).toFuture();

        assertThat(idle.readAll()).isEmpty();
        exchange.ok("ok");
        assertThat(caller.readAll()).contains("Connection: close").endsWith("\r\n\r\nok");
        stopped.join();
    }
}
