package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.PemFiles;
import dev.culvert.client.TunnelClient;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Certificates that live seconds: requests and a WebSocket go on while they are renewed. */
class RenewalIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Set to {@code 30s}, with the next one at 300, for the long run. */
    private static final Duration LIFE = Duration
            .parse("PT" + System.getProperty("culvert.renewal.life", "10s"));
    /** How many seconds to run. */
    private static final Duration RUN = Duration.ofSeconds(Integer.getInteger("culvert.renewal.seconds", 14));

    @TempDir
    Path folder;

    @Test
    void sessionsOutliveTheirCertificates() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .get("/hello", (request, response) -> response.sendString(Mono.just("hello")))
                        .ws("/ws",
                                (in, out) -> out.sendObject(in.receiveFrames().map(WebSocketFrame::retain))))
                .bindNow();
        try (Platform platform = Platform.start(folder, CallerLimits.defaults(), LIFE)) {
            platform.connect("acme", "prod", URI.create("http://127.0.0.1:" + upstream.port()));
            HttpClient caller = platform.caller("acme", "prod");
            Path certificate = folder.resolve("identity-acme-prod").resolve("client.crt");
            Sinks.Many<String> words = Sinks.many().unicast().onBackpressureBuffer();
            List<String> echoed = new CopyOnWriteArrayList<>();
            var cut = new AtomicBoolean();
            var webSocket = caller.websocket()
                    .uri("/ws")
                    .handle((in, out) -> out.sendObject(words.asFlux().map(TextWebSocketFrame::new))
                            .then()
                            .and(in.receive().asString().doOnNext(echoed::add)))
                    .subscribe(nothing -> {}, error -> cut.set(true), () -> cut.set(true));

            Set<String> certificates = new HashSet<>();
            int requests = 0;
            int failed = 0;
            long end = System.nanoTime() + RUN.toNanos();
            while (System.nanoTime() < end) {
                certificates.add(Files.readString(certificate));
                failed += status(caller) == 200 ? 0 : 1;
                requests++;
                String word = "word " + requests;
                words.tryEmitNext(word).orThrow();
                await().atMost(PATIENCE)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> echoed.contains(word));
                echoed.clear();
                assertThat(cut).isFalse();
            }

            int renewals = certificates.size() - 1;
            System.out.printf("renewal: life %d s, %d s of traffic: %d renewals, %d requests, %d failed,"
                    + " %d WebSocket messages, WebSocket %s%n", LIFE.toSeconds(), RUN.toSeconds(), renewals,
                    requests, failed, requests, cut.get() ? "cut" : "never cut");
            assertThat(failed).isZero();
            // At two thirds of their life.
            assertThat(renewals).isGreaterThanOrEqualTo((int) (RUN.toSeconds() * 6 / 5 / LIFE.toSeconds()));
            webSocket.dispose();
        } finally {
            upstream.disposeNow();
        }
    }

    @Test
    void clientThatWasOffBeyondItsCertificateComesBackByItself() throws Exception {
        try (Platform platform = Platform.start(folder, CallerLimits.defaults(), LIFE)) {
            URI nowhere = URI.create("http://127.0.0.1:1");
            Path token = platform.createRuntime("acme", "prod");
            platform.connect(platform.clientConfig("acme", "prod", token, nowhere, null))
                    .stop(Duration.ZERO)
                    .block(PATIENCE);
            Path certificate = folder.resolve("identity-acme-prod").resolve("client.crt");
            Instant end = PemFiles.readCertificates(certificate).getFirst().getNotAfter().toInstant();
            await().atMost(PATIENCE).until(() -> Instant.now().isAfter(end));

            platform.connect(platform.clientConfig("acme", "prod", null, nowhere, null));

            assertThat(PemFiles.readCertificates(certificate).getFirst().getNotAfter().toInstant())
                    .isAfter(end);
        }
    }

    @Test
    void runtimeMadeAgainIsServedWithItsNewToken() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            URI nowhere = URI.create("http://127.0.0.1:1");
            Path token = platform.createRuntime("acme", "prod");
            platform.connect(platform.clientConfig("acme", "prod", token, nowhere, null))
                    .stop(Duration.ZERO)
                    .block(PATIENCE);
            platform.deleteRuntime("acme", "prod");
            Path second = platform.createRuntime("acme", "prod");

            TunnelClient client = platform
                    .connect(platform.clientConfig("acme", "prod", second, nowhere, null));

            assertThat(client.isLive()).isTrue();
        }
    }

    private static int status(HttpClient caller) {
        Integer status = caller.get()
                .uri("/hello")
                .responseSingle((head, body) -> body.asString().thenReturn(head.status().code()))
                .block(PATIENCE);
        return status == null ? 0 : status;
    }
}
