package dev.culvert.handlers.server;

import static dev.culvert.handlers.server.ServerFixture.bytes;
import static dev.culvert.handlers.server.ServerFixture.impatient;
import static dev.culvert.handlers.server.ServerFixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class EdgeServerParsingIT {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    @RegisterExtension
    final ServerFixture server = new ServerFixture();

    @ParameterizedTest
    @ValueSource(strings = {"TRACE / HTTP/1.1\r\nHost: a\r\n", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n"})
    void connectAndTraceAreNotAllowed(String head) throws IOException {
        server.start(request -> text("never"));

        assertThat(server.exchange(head + "Connection: close\r\n\r\n")).startsWith("HTTP/1.1 405");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", "GET x HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\r\nHost: a\rX: y\r\n\r\n"})
    void whatIsNotValidIsABadRequest(String bytes) throws IOException {
        server.start(request -> text("never"));

        try (var client = server.connect()) {
            assertThat(client.send(bytes).readUntil("\"requestId\"")).startsWith("HTTP/1.1 400")
                    .contains("urn:culvert:problem:bad-request");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.1\r\nHost: user@a\r\n\r\n",
            "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n"})
    void nothingIsServedBehindABadRequest(String bytes) throws IOException {
        server.start(request -> text("never"));

        assertThat(server.exchange(bytes + GET)).startsWith("HTTP/1.1 400").doesNotContain("never");
    }

    @Test
    void aBodyThatTurnsOutMalformedAfterItsAnswerEndsTheConnection() throws IOException {
        server.start(request -> text("answered"));

        try (var client = server.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                    .readUntil("answered");
            client.send("zz\r\n" + GET);
            assertThat(client.readAll()).doesNotContain("HTTP/1.1 ");
        }
    }

    @Test
    void healthChecksOfBalancersNeedNoHost() throws IOException {
        server.start(request -> text(request.target()));

        assertThat(server.exchange("GET /x HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200").endsWith("/x");
        assertThat(server.exchange("GET / HTTP/1.0\r\nHost: a@b\r\n\r\n")).startsWith("HTTP/1.1 400");
    }

    @Test
    void optionsOfTheServerSayWhatItServes() throws IOException {
        server.start(request -> text("never"));

        assertThat(server.exchange("OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200")
                .contains("allow: GET, HEAD", "content-length: 0");
    }

    @Test
    void everyAnswerHasADate() throws IOException {
        server.start(request -> text("x"));

        assertThat(server.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .contains("\r\ndate: ");
        assertThat(server.exchange("GET / HTTP/9.9\r\nHost: a\r\n\r\n")).contains("\r\ndate: ");
    }

    @Test
    void anAbsoluteTargetBecomesItsPath() throws IOException {
        server.start(request -> text(request.target()));

        assertThat(server.exchange("GET http://A?x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .endsWith("\r\n/?x");
    }

    @Test
    void aBadChunkEndsTheConnectionWithAProblem() throws IOException {
        server.start(request -> request.aggregate(100).flatMap(body -> text("never")));

        assertThat(server.exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"))
                .startsWith("HTTP/1.1 400");
    }

    @Test
    void headsBeyondTheLimitsAreRefused() throws IOException {
        server.start(request -> text("never"));

        assertThat(server.exchange("GET /" + "x".repeat(17 << 10) + " HTTP/1.1\r\nHost: a\r\n\r\n"))
                .startsWith("HTTP/1.1 414");
        assertThat(server.exchange("GET / HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(65 << 10) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431");
        assertThat(server.exchange("GET / HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n".repeat(100) + "\r\n"))
                .startsWith("HTTP/1.1 431");
    }

    @Test
    void aHeadThatArrivesTooSlowlyIsRefused() throws IOException {
        server.start(request -> text("never"), impatient());

        assertThat(server.exchange("GET / HTTP/1.1\r\nHo")).startsWith("HTTP/1.1 408")
                .contains("request-timeout");
    }

    @Test
    void aBodyThatFallsSilentIsRefused() throws IOException {
        server.start(request -> request.aggregate(100).flatMap(body -> text("never")), impatient());

        assertThat(server.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"))
                .startsWith("HTTP/1.1 408")
                .contains("request-timeout");
    }

    @Test
    void aHandlerMayReadABodyAsSlowlyAsItLikes() throws IOException {
        server.start(request -> Mono.delay(Duration.ofMillis(600))
                .then(request.aggregate(100))
                .flatMap(body -> text("got " + body.length)), impatient());

        assertThat(
                server.exchange(
                        "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc"))
                .endsWith("got 3");
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrderAndReadNoFurtherThanTheSecond() throws IOException {
        var handled = new AtomicInteger();
        var gate = Sinks.<EdgeResponse>one();
        server.start(
                request -> handled.incrementAndGet() == 1 ? gate.asMono() : text("next" + handled.get()));

        try (var client = server.connect()) {
            client.send(GET.repeat(5));
            await().until(() -> handled.get() == 1);
            gate.tryEmitValue(EdgeResponse.Http.of(HttpResponseStatus.OK, "text/plain",
                    "first".getBytes(StandardCharsets.US_ASCII)));
            assertThat(client.readUntil("next5")).containsSubsequence("first", "next2", "next3", "next4",
                    "next5");
        }
    }

    @Test
    void aMalformedRequestBehindAnotherWaitsItsTurn() throws IOException {
        var gate = Sinks.<EdgeResponse>one();
        var asked = new CompletableFuture<EdgeRequest>();
        server.start(request -> {
            asked.complete(request);
            return gate.asMono();
        });

        try (var client = server.connect()) {
            client.send(GET + "GET / HTTP/1.1\r\nHost : b\r\n\r\n");
            asked.join();
            gate.tryEmitValue(EdgeResponse.Http.empty(HttpResponseStatus.OK));
            assertThat(client.readAll()).startsWith("HTTP/1.1 200 OK").contains("HTTP/1.1 400");
        }
    }
}
