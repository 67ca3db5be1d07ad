package dev.culvert.handlers.server;

import static dev.culvert.handlers.server.ServerFixture.bytes;
import static dev.culvert.handlers.server.ServerFixture.setup;
import static dev.culvert.handlers.server.ServerFixture.stream;
import static dev.culvert.handlers.server.ServerFixture.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.net.ListenException;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class EdgeServerIT {
    private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    private static final String GET_CLOSE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

    @RegisterExtension
    final ServerFixture server = new ServerFixture();

    @Test
    void servesTheHandlersAnswer() throws IOException {
        server.start(request -> text("hello " + request.target()));

        String answer = server.exchange("GET /a?b=%20c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\nhello /a?b=%20c");
    }

    @Test
    void aHandlersErrorIsAProblem() throws IOException {
        server.start(request -> Mono.error(new EdgeException(
                Problem.of(Cause.OVERLOADED, Hop.ROUTER, "full").retryAfter(Duration.ofSeconds(3)))));

        String answer = server.exchange(
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
        server.start(request -> {
            throw new IllegalStateException("jdbc://inner-host/secret");
        });

        String answer = server.exchange(GET_CLOSE);

        assertThat(answer).startsWith("HTTP/1.1 500")
                .contains("urn:culvert:problem:internal")
                .doesNotContain("secret")
                .doesNotContain("Exception");
    }

    @Test
    void blockingOnAnEventLoopIsNoticedByTheseTests() throws IOException {
        server.start(request -> {
            LockSupport.parkNanos(1_000_000);
            return text("never");
        });

        assertThat(server.exchange(GET_CLOSE)).startsWith("HTTP/1.1 500");
    }

    @Test
    void aHandlerWithoutAnAnswerIsAProblem() throws IOException {
        server.start(request -> Mono.empty());

        assertThat(server.exchange(GET_CLOSE)).startsWith("HTTP/1.1 500");
    }

    @Test
    void anInvalidRequestIdIsReplaced() throws IOException {
        server.start(
                request -> text(request.context().requestId() + "=" + request.headers().get("x-request-id")));

        String answer = server.exchange(
                "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: " + "x".repeat(129)
                        + "\r\nConnection: close\r\n\r\n");

        assertThat(answer.substring(answer.indexOf("\r\n\r\n") + 4)).matches("([0-9a-f]{32})=\\1");
    }

    @Test
    void methodNotAllowedSaysWhatIs() throws IOException {
        server.start(
                request -> Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD)));

        assertThat(server.exchange(GET_CLOSE)).startsWith("HTTP/1.1 405").contains("allow: GET, HEAD\r\n");
    }

    @Test
    void headHasTheLengthButNoBody() throws IOException {
        server.start(request -> text("hello"));

        assertThat(server.exchange("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                .contains("content-length: 5\r\n")
                .endsWith("\r\n\r\n");
    }

    @Test
    void aPortInUseIsNamed() {
        server.start(request -> text("first"));

        assertThatThrownBy(
                () -> EdgeServer
                        .start(EdgeServer.Setup.of(server.address(), ServerFixture.loops()),
                                request -> text("second"))
                        .block())
                .isInstanceOfSatisfying(ListenException.class,
                        e -> assertThat(e.address()).isEqualTo(server.address()))
                .hasMessageContaining(server.address().toString());
    }

    @Test
    void drainLetsTheRunningExchangeFinish() throws IOException {
        var gate = Sinks.<EdgeResponse>one();
        var asked = new CompletableFuture<EdgeRequest>();
        EdgeServer draining = server.start(request -> {
            asked.complete(request);
            return gate.asMono();
        });

        try (var client = server.connect(); var idle = server.connect()) {
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
        assertThatThrownBy(() -> server.connect().close()).isInstanceOf(IOException.class);
    }

    @Test
    void theEndOfTheGraceResetsWhatIsLeft() throws IOException {
        EdgeServer draining = server
                .start(request -> stream(Flux.<ByteBuf>never().startWith(bytes("first"))));

        try (var client = server.connect()) {
            client.send(GET).readUntil("first");
            draining.stop(Duration.ofMillis(50)).block(Duration.ofSeconds(10));
            assertThat(client.readAll()).endsWith("<reset>");
        }
    }

    @Test
    void countsProblemsByCauseAndHop() throws IOException {
        try (var telemetry = new Telemetry()) {
            server.start(request -> Mono.error(HandlerException.of(HandlerException.Reason.NOT_FOUND, "no")),
                    setup()
                            .telemetry(telemetry)
                            .filter(new HealthFilter(() -> Readiness.notReady("starting"), telemetry)
                                    .about("a listener for tests")));

            server.exchange(GET_CLOSE.replace("GET / ", "GET /none "));

            assertThat(server.exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 200")
                    .endsWith("a listener for tests\n");
            assertThat(server.exchange("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 421")
                    .doesNotContain("jvm_memory");
            assertThat(server
                    .exchange("GET /metrics HTTP/1.1\r\nHost: localhost:81\r\nConnection: close\r\n\r\n"))
                    .contains("culvert_problems_total{cause=\"not-found\",hop=\"edge\"} 1.0")
                    .contains("jvm_memory_used_bytes")
                    .contains("netty_allocator_memory_used");
            assertThat(server.exchange("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .endsWith("ok\n");
            assertThat(server.exchange("GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 503")
                    .endsWith("starting\n");
            assertThat(server.exchange("POST /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 405");
        }
    }
}
