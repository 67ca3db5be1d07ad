package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Standby;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** Replicas of a client of which one serves and the others wait. {@code e2e/scripts/standby.py} is the long form. */
class StandbyIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int CALLERS = 16;
    private static final int SOME = 200;

    @TempDir
    Path folder;

    private final ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
    private DisposableServer upstream;
    private Platform platform;
    private ClientConfig usual;
    private int replicas;

    @BeforeEach
    void start() throws IOException {
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes.get("/",
                        (request, response) -> response.sendString(Mono.just("hello"))))
                .bindNow();
        platform = Platform.start(folder);
        usual = platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"),
                URI.create("http://127.0.0.1:" + upstream.port()), null);
    }

    @AfterEach
    void stop() {
        connections.disposeLater().block(PATIENCE);
        platform.close();
        upstream.disposeNow();
    }

    /** A replica with a copy of the first one's identity. */
    private ClientConfig replica(int priority) throws IOException {
        if (replicas++ == 0) {
            return usual.with(Standby.waiting(priority));
        }
        Path copy = folder.resolve("replica-" + replicas);
        Files.createDirectory(copy,
                PosixFilePermissions.asFileAttribute(Files.getPosixFilePermissions(usual.identityDir())));
        List<Path> files;
        try (Stream<Path> all = Files.list(usual.identityDir())) {
            files = all.toList();
        }
        for (Path file : files) {
            Files.copy(file, copy.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
        }
        return new ClientConfig(usual.server(), usual.serverCa(), null, null, null, copy, usual.health(),
                usual.to(), null, null, 2, usual.conflictRetry(), usual.sessionLife())
                .with(Standby.waiting(priority));
    }

    private TunnelClient waiting(int priority) throws IOException {
        TunnelClient client = platform.start(replica(priority), event -> {});
        await().atMost(PATIENCE).until(client::isWaiting);
        return client;
    }

    private static void awaitOwner(TunnelClient client) {
        await().atMost(PATIENCE).until(() -> client.isLive() && !client.isWaiting());
    }

    @Test
    void callersSeeNothingOfARollingUpdate() throws Exception {
        TunnelClient owner = platform.connect(replica(0));
        var load = new Load(platform.caller("acme", "prod", connections), CALLERS);
        Disposable calling = load.start();
        load.awaitMore(SOME);

        for (int round = 0; round < 3; round++) {
            TunnelClient next = waiting(0);
            assertThat(Platform.readiness(next)).isEqualTo("200 waiting\n");
            load.awaitMore(SOME);
            owner.stop(Duration.ofSeconds(10)).block(PATIENCE);
            awaitOwner(next);
            load.awaitMore(SOME);
            owner = next;
        }

        calling.dispose();
        assertThat(load.failures()).isEmpty();
        assertThat(platform.metrics()).contains("culvert_tunnel_promotions_total{result=\"answered\"} 3.0",
                "culvert_tunnels_waiting 0.0");
    }

    @Test
    void replicaIsPromotedWhenTheOwnersConnectionsAreLostAndTheOwnerWaitsThen() throws Exception {
        TunnelClient first = platform.connect(replica(0));
        TunnelClient low = waiting(1);
        TunnelClient high = waiting(2);
        assertThat(platform.runtime("acme", "prod")).contains("\"waiting\":[{\"remote\":",
                "\"state\":\"waiting\",\"priority\":1", "\"state\":\"waiting\",\"priority\":2");
        var load = new Load(platform.caller("acme", "prod", connections), CALLERS);
        Disposable calling = load.start();
        load.awaitMore(SOME);

        await().atMost(PATIENCE).until(() -> platform.sessions().size() == 2); // the owner's connections
        await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofSeconds(2)).until(() -> {
            // A cut connection that is dialled again before the other one is cut keeps the owner.
            if (high.isWaiting() && !first.isWaiting()) {
                platform.disconnectAll();
            }
            return high.isLive() && !high.isWaiting();
        });
        await().atMost(PATIENCE).until(first::isWaiting);
        load.awaitMore(SOME);

        assertThat(low.isWaiting()).isTrue();
        platform.sessions()
                .stream()
                .findFirst()
                .ifPresent(session -> platform.admin(HttpMethod.POST, "/api/v1/tunnels/" + session + "/drain",
                        ""));
        awaitOwner(low);
        await().atMost(PATIENCE).until(high::isWaiting);
        load.awaitMore(SOME);
        calling.dispose();
        assertThat(load.failures()).isEmpty();
    }

    @Test
    void replicaThatTakesOverIsFollowedByTheOneThatItReplaced() throws Exception {
        TunnelClient first = platform.connect(replica(0));
        TunnelClient second = platform.connect(replica(0).with(Standby.usual()));
        await().atMost(PATIENCE).until(first::isWaiting);

        second.stop(Duration.ofSeconds(10)).block(PATIENCE);

        awaitOwner(first);
    }

    @Test
    void replicasEndWithTheirRuntime() throws Exception {
        platform.connect(replica(0));
        TunnelClient waiting = waiting(0);

        platform.deleteRuntime("acme", "prod");

        await().atMost(PATIENCE).until(() -> !waiting.isWaiting());
        assertThat(waiting.isLive()).isFalse();
    }
}
