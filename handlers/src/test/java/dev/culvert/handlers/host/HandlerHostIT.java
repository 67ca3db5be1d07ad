package dev.culvert.handlers.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.handlers.spi.TestHandlers;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.testing.EventLoopWatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Handlers that misbehave beside one that does not, behind a listener with two event loops. */
class HandlerHostIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    /** More than the event loops, the threads of a handler and the calls it may have, each. */
    private static final int CALLS = 24;

    private final EventLoops loops = EventLoops.create(2);
    private final Telemetry telemetry = new Telemetry();
    private final CountDownLatch held = new CountDownLatch(1);
    private final HttpClient http = HttpClient.newHttpClient();
    private final HandlerHost host = new HandlerHost(new HandlerHost.Setup(
            List.of(provider("blocks", this::blocks), provider("blocks-late", this::blocksLate),
                    provider("throws", this::fails), provider("leaks", this::leaks),
                    provider("hoards", this::hoards), provider("reads", this::reads),
                    provider("good", request -> TestHandlers.ok())),
            provider -> new TestHandlers.Context(),
            (name, asked) -> new HandlerLimits(16, Duration.ofMillis(name.equals("good") ? 10_000 : 1000), 4),
            telemetry.registry(), null));
    @SuppressWarnings("NullAway.Init") // set before each test
    private EdgeServer server;

    @BeforeEach
    void start() {
        EventLoopWatch.install();
        server = Objects
                .requireNonNull(EdgeServer.start(EdgeServer.Setup.of(new HostPort("127.0.0.1", 0), loops)
                        .filter(new HealthFilter(() -> Readiness.degraded(host.troubles()
                                .entrySet()
                                .stream()
                                .map(trouble -> trouble.getKey() + ": " + trouble.getValue())
                                .toList()), telemetry)),
                        host).block(TIME));
    }

    @AfterEach
    void stop() {
        held.countDown();
        server.stop(Duration.ZERO)
                .then(host.stop(Duration.ZERO))
                .then(loops.disposeLater(Duration.ZERO, TIME))
                .block(TIME);
        telemetry.close();
    }

    @ParameterizedTest
    @CsvSource({"blocks,504", "blocks-late,200", "throws,500", "leaks,504", "hoards,504"})
    void nothingThatAHandlerDoesReachesAnother(String offender, int status) throws Exception {
        List<CompletableFuture<Integer>> bad = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            bad.add(status(offender));
        }

        // What blocks is let go after these: with a thread in common they would wait for it.
        for (int i = 0; i < CALLS; i++) {
            assertThat(status("good").get()).isEqualTo(200);
        }

        if (status == 200) {
            held.countDown(); // the others end at their time-outs
        }
        assertThat(bad.stream().map(CompletableFuture::join).filter(seen -> seen == status)).hasSizeBetween(1,
                CALLS);
        if (!offender.equals("blocks-late")) {
            assertThat(text("/readyz")).startsWith("degraded\n" + offender + ": ").doesNotContain("good");
            assertThat(text("/metrics"))
                    .containsPattern("culvert_handler_healthy\\{handler=\"" + offender + "\"\\} 0")
                    .containsPattern("culvert_handler_healthy\\{handler=\"good\"\\} 1");
        }
        Awaitility.await()
                .untilAsserted(() -> assertThat(text("/metrics"))
                        .containsPattern("culvert_handler_active\\{handler=\"" + offender + "\"\\} 0"));
    }

    @Test
    void aFloodIsTurnedAwayAtOnce() throws Exception {
        List<CompletableFuture<Integer>> flood = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            flood.add(status("leaks"));
        }

        assertThat(status("good").get()).isEqualTo(200);
        List<Integer> seen = flood.stream().map(CompletableFuture::join).toList();
        assertThat(seen).containsOnly(503, 504);
        assertThat(seen.stream().filter(status -> status == 504).count()).isGreaterThanOrEqualTo(16);
        assertThat(text("/metrics"))
                .containsPattern("culvert_handler_rejected_total\\{handler=\"leaks\"\\} [1-9]");
        assertThat(text("/readyz")).contains("leaks: ", " rejected");
    }

    @Test
    void callersWhoLeaveInTheMiddleOfABodyAreNoFaultOfTheHandler() throws IOException {
        for (int i = 0; i < HandlerHealth.ENOUGH; i++) {
            try (var caller = new Socket(InetAddress.getLoopbackAddress(), server.address().port())) {
                caller.getOutputStream()
                        .write("POST /reads HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nsome"
                                .getBytes(StandardCharsets.US_ASCII));
                Awaitility.await()
                        .untilAsserted(() -> assertThat(text("/metrics"))
                                .containsPattern("culvert_handler_active\\{handler=\"reads\"\\} 1"));
            }
            int gone = i + 1;
            Awaitility.await()
                    .untilAsserted(() -> assertThat(text("/metrics")).containsPattern(
                            "culvert_handler_seconds_count\\{handler=\"reads\",outcome=\"cancelled\"\\} "
                                    + gone));
        }

        assertThat(host.troubles()).isEmpty();
    }

    private Mono<EdgeResponse> reads(EdgeRequest request) {
        return request.aggregate(100).then(TestHandlers.ok());
    }

    private Mono<EdgeResponse> blocks(EdgeRequest request) {
        hold();
        return TestHandlers.ok();
    }

    /** Blocks where the caller's connection asks for more of a body. */
    private Mono<EdgeResponse> blocksLate(EdgeRequest request) {
        Flux<ByteBuf> body = Flux.generate(sink -> {
            hold();
            sink.complete();
        });
        return Mono.just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(),
                Flux.<ByteBuf>just(Unpooled.EMPTY_BUFFER).concatWith(body)));
    }

    private Mono<EdgeResponse> fails(EdgeRequest request) {
        throw new IllegalStateException("a handler of a test that throws");
    }

    /** Never answers, and keeps what it has. */
    private Mono<EdgeResponse> leaks(EdgeRequest request) {
        return Mono.never();
    }

    /** Takes hold of the request's body and neither reads it nor lets go. */
    private Mono<EdgeResponse> hoards(EdgeRequest request) {
        request.body().subscribe(new BaseSubscriber<>() {
            @Override
            protected void hookOnError(Throwable error) {
                // its call has ended
            }

            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                // asks for nothing
            }
        });
        return Mono.never();
    }

    private void hold() {
        try {
            held.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<Integer> status(String handler) {
        return http.sendAsync(HttpRequest.newBuilder(uri("/" + handler))
                .POST(BodyPublishers.ofString("some bytes"))
                .build(), BodyHandlers.discarding()).thenApply(HttpResponse::statusCode);
    }

    private String text(String path) throws IOException {
        try {
            return http.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString()).body();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private URI uri(String path) {
        return URI.create("http://" + server.address() + path);
    }

    private static EdgeHandlerProvider provider(String name, EdgeHandler handler) {
        return TestHandlers.at(name, "/" + name + "/", handler);
    }
}
