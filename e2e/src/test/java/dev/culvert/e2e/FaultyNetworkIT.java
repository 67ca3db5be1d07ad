package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import io.netty.buffer.Unpooled;
import java.net.URI;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** A tunnel over networks that delay, cut up, reset or swallow what it sends. */
class FaultyNetworkIT {
    private static final Logger log = LoggerFactory.getLogger(FaultyNetworkIT.class);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int CALLERS = 16;
    private static final int BODY_BYTES = 100_000;

    @TempDir
    Path folder;
    private final ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
    private final DisposableServer upstream = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes
                    .get("/", (request, response) -> response.sendString(Mono.just("hello")))
                    .post("/hash", (request, response) -> response.sendString(request.receive()
                            .aggregate()
                            .asByteArray()
                            .map(FaultyNetworkIT::hash)))
                    .get("/bytes/{seed}", (request, response) -> response.sendByteArray(
                            Mono.just(bytes(Integer.parseInt(String.valueOf(request.param("seed"))))))))
            .bindNow();
    private final URI to = URI.create("http://127.0.0.1:" + upstream.port());

    @AfterEach
    void stop() {
        upstream.disposeNow();
        connections.dispose();
    }

    /** The time is told: that a silent link is seen within 14 s is judged in virtual time, by {@code SessionHeartbeatTest}. */
    @Test
    void bothEndsNoticeAHalfOpenConnection() throws Exception {
        try (Platform platform = Platform.start(folder);
                FaultProxy network = FaultProxy.start(platform.server.tunnelAddress())) {
            TunnelClient client = connect(platform, network);
            long silent = System.nanoTime();
            network.silence();

            AtomicInteger clientMillis = new AtomicInteger();
            AtomicInteger serverMillis = new AtomicInteger();
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> {
                if (!client.isLive()) {
                    clientMillis.compareAndSet(0, millisSince(silent));
                }
                if (platform.sessions().isEmpty()) {
                    serverMillis.compareAndSet(0, millisSince(silent));
                }
                return clientMillis.get() > 0 && serverMillis.get() > 0;
            });

            log.info("half-open noticed by the client after {} ms, by the server after {} ms", clientMillis,
                    serverMillis);

            network.heal();
            await().atMost(PATIENCE).until(client::isLive);
        }
    }

    @Test
    void bodiesArriveWholeOverASlowNetworkThatCutsThemUp() throws Exception {
        try (Platform platform = Platform.start(folder);
                FaultProxy network = FaultProxy.start(platform.server.tunnelAddress())) {
            connect(platform, network);
            network.delay(Duration.ofMillis(20), Duration.ofMillis(10));
            network.limit(4_000);
            network.slice(1_000, Duration.ofNanos(100_000));
            HttpClient caller = platform.caller("acme", "prod", connections);

            List<Boolean> matches = Flux.range(0, 48)
                    .flatMap(seed -> seed % 2 == 0 ? upload(caller, seed) : download(caller, seed), CALLERS)
                    .collectList()
                    .block(PATIENCE.multipliedBy(2));

            assertThat(matches).hasSize(48).containsOnly(true);
        }
    }

    private TunnelClient connect(Platform platform, FaultProxy network) throws Exception {
        TunnelClient client = platform.connect(platform.clientConfig("acme", "prod",
                platform.createRuntime("acme", "prod"), to, null, network.address().port()));
        await().atMost(PATIENCE).until(() -> platform.sessions().size() == 2);
        return client;
    }

    private static Mono<Boolean> upload(HttpClient caller, int seed) {
        byte[] body = bytes(seed);
        return caller.post()
                .uri("/hash")
                .send(ByteBufFlux.fromInbound(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body))))
                .responseSingle((head, answer) -> answer.asString())
                .map(hash(body)::equals);
    }

    private static Mono<Boolean> download(HttpClient caller, int seed) {
        return caller.get()
                .uri("/bytes/" + seed)
                .responseSingle((head, answer) -> answer.asByteArray())
                .map(received -> hash(received).equals(hash(bytes(seed))));
    }

    private static byte[] bytes(int seed) {
        byte[] bytes = new byte[BODY_BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static String hash(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int millisSince(long nanos) {
        return (int) Duration.ofNanos(System.nanoTime() - nanos).toMillis();
    }
}
