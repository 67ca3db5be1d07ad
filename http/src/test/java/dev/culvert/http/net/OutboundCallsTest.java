package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.OutboundCalls.Call;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.test.StepVerifier;

class OutboundCallsTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final EventLoops loops = EventLoops.create(1);
    private DisposableServer service;
    private OutboundCalls calls;

    @BeforeEach
    void start() throws Exception {
        service = HttpServer.create()
                .bindAddress(() -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .route(routes -> routes
                        .post("/echo",
                                (request, response) -> response.send(request.receive().aggregate().retain()))
                        .get("/parts",
                                (request, response) -> response.sendString(Flux.just("12345", "67890")))
                        .get("/never", (request, response) -> Mono.never()))
                .bindNow();
        SslContext tls = SslContextBuilder.forClient().build();
        calls = new OutboundCalls("test", 1, 1, loops, tls);
    }

    @AfterEach
    void stop() {
        calls.close().then(loops.disposeLater()).block();
        service.disposeNow();
    }

    @Test
    void theBodyIsSentAndTheAnswerRead() {
        byte[] body = "hello".getBytes(StandardCharsets.UTF_8);

        StepVerifier
                .create(calls.send(new Call(HttpMethod.POST, url("/echo"), fields -> {}, body), 5, LONG))
                .assertNext(answer -> {
                    assertThat(answer.status()).isEqualTo(200);
                    assertThat(answer.body()).isEqualTo(body);
                })
                .verifyComplete();
    }

    @Test
    void anAnswerOfExactlyTheLimitIsRead() {
        StepVerifier.create(calls.get(url("/parts"), fields -> {}, 10, LONG))
                .assertNext(answer -> assertThat(answer.body()).hasSize(10))
                .verifyComplete();
    }

    @Test
    void aLargerAnswerFails() {
        StepVerifier.create(calls.get(url("/parts"), fields -> {}, 9, LONG))
                .verifyError(OutboundCalls.TooLargeException.class);
    }

    @Test
    void aLateAnswerFailsAndFreesItsConnection() {
        StepVerifier.create(calls.get(url("/never"), fields -> {}, 10, Duration.ofMillis(50)))
                .verifyError(TimeoutException.class);

        StepVerifier.create(calls.get(url("/parts"), fields -> {}, 10, LONG))
                .expectNextCount(1)
                .verifyComplete();
    }

    private URI url(String path) {
        return URI.create("http://127.0.0.1:" + service.port() + path);
    }
}
