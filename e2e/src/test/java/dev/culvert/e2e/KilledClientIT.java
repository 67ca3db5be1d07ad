package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** A client process that is killed under load, and started again. */
class KilledClientIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int CALLERS = 16;

    @TempDir
    Path folder;

    @Test
    void aKilledClientLeavesNothingBehindAndItsSuccessorServesAtOnce() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .get("/",
                                (request, response) -> response
                                        .sendByteArray(Flux.range(0, 64).map(i -> new byte[1024]))))
                .bindNow();
        ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
        AtomicLong served = new AtomicLong();
        try (Platform platform = Platform.start(folder)) {
            Path token = platform.createRuntime("acme", "prod");
            URI to = URI.create("http://127.0.0.1:" + upstream.port());
            HttpClient caller = platform.caller("acme", "prod", connections);
            try (ClientProcess first = ClientProcess.start(platform, token, to)) {
                first.awaitConnected();
                Disposable load = load(caller, served);
                await().atMost(PATIENCE).until(() -> served.get() > 500);

                first.kill();
                await().atMost(PATIENCE).until(() -> platform.server.tunnelConnections() == 0);
                try (ClientProcess second = ClientProcess.start(platform, token, to)) {
                    second.awaitConnected();
                    long atConnected = System.nanoTime();
                    long servedBefore = served.get();
                    await().pollInterval(Duration.ofMillis(10))
                            .atMost(PATIENCE)
                            .until(() -> served.get() > servedBefore);
                    System.out.printf("killed client: first request served %d ms after the connected line%n",
                            (System.nanoTime() - atConnected) / 1_000_000);
                    load.dispose();
                    connections.disposeLater().block(PATIENCE);

                    await().atMost(PATIENCE)
                            .untilAsserted(() -> assertThat(List.of(platform.server.streams(),
                                    platform.server.bufferedBytes(),
                                    (long) platform.server.edgeConnections()))
                                    .as("streams, buffered bytes, callers' sockets")
                                    .containsExactly(0L, 0L, 0L));
                    assertThat(platform.server.tunnelConnections()).isBetween(1, 2);
                }
                await().atMost(PATIENCE).until(() -> platform.server.tunnelConnections() == 0);
            }
        } finally {
            upstream.disposeNow();
        }
    }

    /** Callers that ask again as soon as they are answered, whatever the answer. */
    private static Disposable load(HttpClient caller, AtomicLong served) {
        Mono<Void> request = caller.get()
                .uri("/")
                .responseSingle((head, body) -> body.asByteArray().map(bytes -> {
                    if (head.status().code() == 200 && bytes.length == 65536) {
                        served.incrementAndGet();
                    }
                    return bytes;
                }))
                .then()
                .onErrorComplete();
        return Flux.range(0, CALLERS).flatMap(i -> request.repeat(), CALLERS).subscribe();
    }
}
