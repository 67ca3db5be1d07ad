package dev.culvert.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class EdgeServerIT {
    private static final HostPort ANY = new HostPort("127.0.0.1", 0);
    private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String GET_CLOSE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    private static final EventLoops LOOPS = EventLoops.create(2);

    private @Nullable EdgeServer server;

    @BeforeAll
    static void watchForBlocking() {
        EventLoopWatch.install();
    }

    @AfterAll
    static void stopLoops() {
        LOOPS.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
    }

    @AfterEach
    void stopServer() {
        if (server != null) {
            server.stop(Duration.ZERO).block(Duration.ofSeconds(10));
        }
    }

    @Test
    void servesTheHandlersAnswer() throws IOException {
        start(request -> text("hello " + request.target()));

        String answer = exchange("GET /a?b=%20c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\nhello /a?b=%20c");
    }

    @Test
    void echoesABodyInBothDirectionsAtTheSameTime() throws IOException {
        start(request -> Mono
                .just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(),
                        request.body())));

        try (var client = new RawClient(address())) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
            assertThat(client.readUntil("abc")).contains("transfer-encoding: chunked");
            client.send("4\r\ndefg\r\n");
            assertThat(client.readUntil("defg\r\n")).isEqualTo("\r\n4\r\ndefg\r\n");
            client.send("0\r\n\r\n");
            assertThat(client.readUntil("\r\n\r\n")).isEqualTo("0\r\n\r\n");
        }
    }

    @Test
    void aStalledReaderStopsTheSourceOfTheBody() throws IOException {
        var produced = new AtomicLong();
        Flux<ByteBuf> endless = Flux.generate(sink -> {
            produced.addAndGet(16 << 10);
            sink.next(Unpooled.buffer(16 << 10).writeZero(16 << 10));
        });
        start(request -> stream(endless));

        try (var client = new RawClient(address())) {
            client.send(GET).readUntil("\r\n\r\n");
            var seen = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(200))
                    .atMost(Duration.ofSeconds(10))
                    .until(() -> seen.getAndSet(produced.get()) == produced.get());
            // The kernel's socket buffers of both ends, and our window.
            assertThat(produced.get()).isLessThan(16 << 20);
        }
    }

    @Test
    void anUploadIsReadAsFarAsTheHandlerDemands() throws IOException {
        var received = new AtomicLong();
        var demand = Sinks.<EdgeResponse>one();
        start(request -> {
            request.body().doOnNext(buffer -> {
                received.addAndGet(buffer.readableBytes());
                buffer.release();
            }).subscribe(new OneElement<>());
            return demand.asMono();
        });

        try (var client = new RawClient(address())) {
            client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + "x".repeat(1 << 20));
            await().untilAsserted(() -> assertThat(received.get()).isPositive());
            assertThat(received.get()).isLessThan(256 << 10);
        }
    }

    @Test
    void aBodyThatFailsAfterItsHeadIsReset() throws IOException {
        start(request -> stream(Flux.concat(Flux.just(bytes("half")), Flux.error(new IOException("disk")))));

        String answer = exchange(GET_CLOSE);

        assertThat(answer).startsWith("HTTP/1.1 200").doesNotContain("0\r\n\r\n").endsWith("<reset>");
    }

    @Test
    void theCallerLeavingCancelsTheBody() throws IOException {
        var cancelled = new AtomicBoolean();
        start(request -> stream(Flux.<ByteBuf>never()
                .startWith(bytes("first"))
                .doOnCancel(() -> cancelled.set(true))));

        try (var client = new RawClient(address())) {
            client.send(GET).readUntil("first");
        }

        await().untilTrue(cancelled);
    }

    @Test
    void theCallerLeavingCancelsTheHandler() throws IOException {
        var asked = new AtomicBoolean();
        var cancelled = new AtomicBoolean();
        start(request -> Mono.<EdgeResponse>never()
                .doOnSubscribe(s -> asked.set(true))
                .doOnCancel(() -> cancelled.set(true)));

        try (var client = new RawClient(address())) {
            client.send(GET);
            await().untilTrue(asked);
        }

        await().untilTrue(cancelled);
    }

    @Test
    void aHandlersErrorIsAProblem() throws IOException {
        start(request -> Mono.error(new EdgeException(
                Problem.of(Cause.OVERLOADED, Hop.ROUTER, "full").retryAfter(Duration.ofSeconds(3)))));

        String answer = exchange(
                "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: abc-1\r\nConnection: close\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 503")
                .contains("retry-after: 3")
                .contains("content-type: application/problem+json")
                .contains("\"requestId\":\"abc-1\"")
                .contains("\"type\":\"urn:culvert:problem:overloaded\"")
                .contains("\"hop\":\"router\"");
    }

    @Test
    void anUnexpectedErrorTellsTheCallerNothing() throws IOException {
        start(request -> {
            throw new IllegalStateException("jdbc://inner-host/secret");
        });

        String answer = exchange(GET_CLOSE);

        assertThat(answer).startsWith("HTTP/1.1 500")
                .contains("urn:culvert:problem:internal")
                .doesNotContain("secret")
                .doesNotContain("Exception");
    }

    @Test
    void blockingOnAnEventLoopIsNoticedByTheseTests() throws IOException {
        start(request -> {
            LockSupport.parkNanos(1_000_000);
            return text("never");
        });

        assertThat(exchange(GET_CLOSE)).startsWith("HTTP/1.1 500");
    }

    @Test
    void aHandlerWithoutAnAnswerIsAProblem() throws IOException {
        start(request -> Mono.empty());

        assertThat(exchange(GET_CLOSE)).startsWith("HTTP/1.1 500");
    }

    @Test
    void anInvalidRequestIdIsReplaced() throws IOException {
        start(request -> text(request.context().requestId() + "=" + request.headers().get("x-request-id")));

        String answer = exchange(
                "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + "x".repeat(129)
                        + "\r\nConnection: close\r\n\r\n");

        assertThat(answer.substring(answer.indexOf("\r\n\r\n") + 4)).matches("([0-9a-f]{32})=\\1");
    }

    @Test
    void methodNotAllowedSaysWhatIs() throws IOException {
        start(request -> Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD)));

        assertThat(exchange(GET_CLOSE)).startsWith("HTTP/1.1 405").contains("allow: GET, HEAD\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TRACE / HTTP/1.1\r\nHost: a\r\n", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n"})
    void connectAndTraceAreNotAllowed(String head) throws IOException {
        start(request -> text("never"));

        assertThat(exchange(head + "Connection: close\r\n\r\n")).startsWith("HTTP/1.1 405");
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
        start(request -> text("never"));

        try (var client = new RawClient(address())) {
            assertThat(client.send(bytes).readUntil("\"requestId\"")).startsWith("HTTP/1.1 400")
                    .contains("urn:culvert:problem:bad-request");
        }
    }

    @Test
    void anAbsoluteTargetBecomesItsPath() throws IOException {
        start(request -> text(request.target()));

        assertThat(exchange("GET http://A?x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .endsWith("\r\n/?x");
    }

    @Test
    void aBadChunkEndsTheConnectionWithAProblem() throws IOException {
        start(request -> request.aggregate(100).flatMap(body -> text("never")));

        assertThat(exchange("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"))
                .startsWith("HTTP/1.1 400");
    }

    @Test
    void headsBeyondTheLimitsAreRefused() throws IOException {
        start(request -> text("never"));

        assertThat(exchange("GET /" + "x".repeat(17 << 10) + " HTTP/1.1\r\nHost: a\r\n\r\n"))
                .startsWith("HTTP/1.1 414");
        assertThat(exchange("GET / HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(65 << 10) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431");
        assertThat(exchange("GET / HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n".repeat(100) + "\r\n"))
                .startsWith("HTTP/1.1 431");
    }

    @Test
    void aHeadThatArrivesTooSlowlyIsRefused() throws IOException {
        start(request -> text("never"), impatient());

        assertThat(exchange("GET / HTTP/1.1\r\nHo")).startsWith("HTTP/1.1 408").contains("request-timeout");
    }

    @Test
    void aBodyThatFallsSilentIsRefused() throws IOException {
        start(request -> request.aggregate(100).flatMap(body -> text("never")), impatient());

        assertThat(exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"))
                .startsWith("HTTP/1.1 408")
                .contains("request-timeout");
    }

    @Test
    void aHandlerMayReadABodyAsSlowlyAsItLikes() throws IOException {
        start(request -> Mono.delay(Duration.ofMillis(600))
                .then(request.aggregate(100))
                .flatMap(body -> text("got " + body.length)), impatient());

        assertThat(
                exchange("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc"))
                .endsWith("got 3");
    }

    @Test
    void aCallerThatWaitsForPermissionIsToldToContinue() throws IOException {
        start(request -> request.aggregate(100).flatMap(body -> text("got " + body.length)));

        try (var client = new RawClient(address())) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
            assertThat(client.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 100 Continue");
            assertThat(client.send("abc").readUntil("got 3")).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    void anEarlyAnswerLeavesTheConnectionUsable() throws IOException {
        start(request -> request.method().equals(HttpMethod.POST)
                ? Mono.error(HandlerException.of(HandlerException.Reason.CONFLICT, "no"))
                : text("next"));

        try (var client = new RawClient(address())) {
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + "x".repeat(100_000));
            assertThat(client.readUntil("\"requestId\"")).startsWith("HTTP/1.1 409");
            client.send("x".repeat(100_000) + GET);
            assertThat(client.readUntil("next")).contains("HTTP/1.1 200");
        }
    }

    @Test
    void theSecondUploadOfAConnectionIsReadAsFarAsDemandedToo() throws IOException {
        var received = new AtomicLong();
        start(request -> {
            if (request.method().equals(HttpMethod.GET)) {
                return text("first");
            }
            request.body().doOnNext(buffer -> {
                received.addAndGet(buffer.readableBytes());
                buffer.release();
            }).subscribe(new OneElement<>());
            return Mono.never();
        });

        try (var client = new RawClient(address())) {
            client.send(GET).readUntil("first");
            client.send(
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + "x".repeat(1 << 20));
            await().untilAsserted(() -> assertThat(received.get()).isPositive());
            assertThat(received.get()).isLessThan(256 << 10);
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrderAndReadNoFurtherThanTheSecond() throws IOException {
        var handled = new AtomicInteger();
        var gate = Sinks.<EdgeResponse>one();
        start(request -> handled.incrementAndGet() == 1 ? gate.asMono() : text("next" + handled.get()));

        try (var client = new RawClient(address())) {
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
        start(request -> {
            asked.complete(request);
            return gate.asMono();
        });

        try (var client = new RawClient(address())) {
            client.send(GET + "GET / HTTP/1.1\r\nHost : b\r\n\r\n");
            asked.join();
            gate.tryEmitValue(EdgeResponse.Http.empty(HttpResponseStatus.OK));
            assertThat(client.readAll()).startsWith("HTTP/1.1 200 OK").contains("HTTP/1.1 400");
        }
    }

    @Test
    void sendsTheTrailersThatWereAnnounced() throws IOException {
        HttpHeaders trailers = new DefaultHttpHeaders().set("x-sum", "7");
        start(request -> Mono.just(new EdgeResponse.Http(HttpResponseStatus.OK,
                new DefaultHttpHeaders().set("trailer", "x-sum"), Flux.just(bytes("abc")),
                Mono.just(trailers))));

        assertThat(exchange(GET_CLOSE)).endsWith("3\r\nabc\r\n0\r\nx-sum: 7\r\n\r\n");
    }

    @Test
    void headHasTheLengthButNoBody() throws IOException {
        start(request -> text("hello"));

        assertThat(exchange("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .contains("content-length: 5\r\n")
                .endsWith("\r\n\r\n");
    }

    @Test
    void aPortInUseIsNamed() {
        start(request -> text("first"));

        assertThatThrownBy(
                () -> EdgeServer.start(EdgeServer.Setup.of(address(), LOOPS), request -> text("second"))
                        .block())
                .isInstanceOfSatisfying(ListenException.class,
                        e -> assertThat(e.address()).isEqualTo(address()))
                .hasMessageContaining(address().toString());
    }

    @Test
    void drainLetsTheRunningExchangeFinish() throws IOException {
        var gate = Sinks.<EdgeResponse>one();
        var asked = new CompletableFuture<EdgeRequest>();
        EdgeServer draining = start(request -> {
            asked.complete(request);
            return gate.asMono();
        });

        try (var client = new RawClient(address()); var idle = new RawClient(address())) {
            client.send(GET);
            asked.join();
            CompletableFuture<@Nullable Void> stopped = draining.stop(Duration.ofSeconds(10)).toFuture();
            // A connection that was not accepted yet is reset.
            assertThat(idle.readAll()).isIn("", "<reset>");
            assertThat(stopped).isNotDone();
            gate.tryEmitValue(EdgeResponse.Http.of(HttpResponseStatus.OK, "text/plain",
                    "last".getBytes(StandardCharsets.US_ASCII)));
            assertThat(client.readAll()).endsWith("last");
            stopped.join();
        }
        assertThatThrownBy(() -> new RawClient(address()).close()).isInstanceOf(IOException.class);
    }

    @Test
    void theEndOfTheGraceResetsWhatIsLeft() throws IOException {
        EdgeServer draining = start(request -> stream(Flux.<ByteBuf>never().startWith(bytes("first"))));

        try (var client = new RawClient(address())) {
            client.send(GET).readUntil("first");
            draining.stop(Duration.ofMillis(50)).block(Duration.ofSeconds(10));
            assertThat(client.readAll()).endsWith("<reset>");
        }
    }

    @Test
    void countsProblemsByCauseAndHop() throws IOException {
        try (var telemetry = new Telemetry()) {
            start(request -> Mono.error(HandlerException.of(HandlerException.Reason.NOT_FOUND, "no")), setup()
                    .telemetry(telemetry)
                    .filter(new HealthFilter(() -> Readiness.notReady("starting"), telemetry)));

            exchange(GET_CLOSE);

            assertThat(exchange("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .contains("culvert_problems_total{cause=\"not-found\",hop=\"edge\"} 1.0")
                    .contains("jvm_memory_used_bytes")
                    .contains("netty_allocator_memory_used");
            assertThat(exchange("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .endsWith("ok\n");
            assertThat(exchange("GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 503")
                    .endsWith("starting\n");
            assertThat(exchange("POST /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 405");
        }
    }

    private EdgeServer start(EdgeHandler handler) {
        return start(handler, setup());
    }

    private EdgeServer start(EdgeHandler handler, EdgeServer.Setup setup) {
        EdgeServer started = EdgeServer.start(setup, handler).block(Duration.ofSeconds(10));
        server = Objects.requireNonNull(started);
        return server;
    }

    /** 200 ms for a head and for the silence of a body. */
    private static EdgeServer.Setup impatient() {
        return setup().limits(new EdgeLimits(64 << 10, 100, 16 << 10, Duration.ofMillis(200),
                Duration.ofMillis(200), Duration.ofSeconds(5)));
    }

    private static EdgeServer.Setup setup() {
        return EdgeServer.Setup.of(ANY, LOOPS);
    }

    private HostPort address() {
        return Objects.requireNonNull(server).address();
    }

    private String exchange(String bytes) throws IOException {
        try (var client = new RawClient(address())) {
            return client.send(bytes).readAll();
        }
    }

    private static Mono<EdgeResponse> text(String text) {
        return Mono.fromSupplier(() -> EdgeResponse.Http.of(HttpResponseStatus.OK, "text/plain",
                text.getBytes(StandardCharsets.UTF_8)));
    }

    private static Mono<EdgeResponse> stream(Flux<ByteBuf> body) {
        return Mono.just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(), body));
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    /** Demands one element and no more. */
    private static final class OneElement<T> extends BaseSubscriber<T> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            request(1);
        }
    }
}
