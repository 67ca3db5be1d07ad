package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** Tunnels that are lost and come back, and clients that are replaced: callers notice nothing. */
class LostTunnelIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int CALLERS = 16;
    /** A server's grace. */
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final String WAITING = "waiting for the server's successor";

    @TempDir
    Path folder;
    private final ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
    private final DisposableServer upstream = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes.get("/", (request, response) -> response.sendString(Mono.just("hello"))))
            .bindNow();
    private final URI to = URI.create("http://127.0.0.1:" + upstream.port());

    @AfterEach
    void stop() {
        upstream.disposeNow();
        connections.dispose();
    }

    /** By then those that were lost have been sent again, and answered: the contract has them sent again three times. */
    private static final int SENT_AGAIN = 1000;

    @Test
    void noGetFailsThoughItsTunnelIsLostTenTimes() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", to);
            Load load = new Load(platform.caller("acme", "prod", connections), CALLERS);
            Disposable running = load.start();

            for (int i = 0; i < 10; i++) {
                load.awaitMore(SENT_AGAIN);
                platform.disconnectAll();
            }
            load.awaitMore(50);

            running.dispose();
            assertThat(load.failures()).isEmpty();
        }
    }

    @Test
    void noGetFailsThoughTheClientIsReplaced() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            Path token = platform.createRuntime("acme", "prod");
            TunnelClient old = platform.connect(platform.clientConfig("acme", "prod", token, to, null));
            Load load = new Load(platform.caller("acme", "prod", connections), CALLERS);
            Disposable running = load.start();

            for (int i = 0; i < 2; i++) {
                load.awaitMore(50);
                TunnelClient next = platform.connect(platform.clientConfig("acme", "prod", null, to, null));
                load.awaitMore(50);
                old.stop(PATIENCE).block(PATIENCE);
                old = next;
            }
            load.awaitMore(50);

            running.dispose();
            assertThat(load.failures()).isEmpty();
        }
    }

    @Test
    void aClientThatIsSentAwayWaitsForTheSuccessor() throws Exception {
        try (LogLines log = new LogLines(); Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", to);

            platform.server.stop(SHORT).block(PATIENCE);
            await().atMost(PATIENCE)
                    .until(() -> log.all().stream().anyMatch(line -> line.startsWith(WAITING)));

            assertThat(log.all()).noneMatch(line -> line.startsWith("no tunnel connection"));
        }
    }
}
