package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** A tunnel of one connection that is reset again and again, under load, while its client is replaced twice. */
class ResetTunnelIT {
    private static final Logger log = LoggerFactory.getLogger(ResetTunnelIT.class);
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int CALLERS = 16;
    /** Of one client in short order: the back-off after more would be longer than requests are held. */
    private static final int[] RESETS = {4, 3, 3};

    @TempDir
    Path folder;

    @Test
    void noGetFailsThoughTheConnectionIsResetTenTimes() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes.get("/",
                        (request, response) -> response.sendString(Mono.just("hello"))))
                .bindNow();
        ConnectionProvider connections = ConnectionProvider.create("callers", CALLERS);
        try (Platform platform = Platform.start(folder);
                FaultProxy network = FaultProxy.start(platform.server.tunnelAddress())) {
            ClientConfig config = single(platform.clientConfig("acme", "prod",
                    platform.createRuntime("acme", "prod"),
                    URI.create("http://127.0.0.1:" + upstream.port()), null, network.address().port()));
            TunnelClient client = platform.connect(config);
            var load = new Load(platform.caller("acme", "prod", connections), CALLERS);
            Disposable running = load.start();

            for (int resets : RESETS) {
                TunnelClient next = platform.connect(config);
                client.stop(PATIENCE).block(PATIENCE);
                client = next;
                for (int i = 0; i < resets; i++) {
                    reset(platform, network, load);
                }
            }
            load.awaitMore(1000);

            running.dispose();
            log.info("10 resets: {} answered, p99 {} ms, longest {} ms", load.served(), load.millisAt(0.99),
                    load.millisAt(1));
            assertThat(load.failures()).isEmpty();
        } finally {
            connections.dispose();
            upstream.disposeNow();
        }
    }

    private static void reset(Platform platform, FaultProxy network, Load load) throws Exception {
        load.awaitMore(1000);
        Set<String> before = platform.sessions();
        network.reset();
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> platform.sessions().stream().noneMatch(before::contains));
        network.heal();
    }

    private static ClientConfig single(ClientConfig of) {
        return new ClientConfig(of.server(), of.serverCa(), of.enrolmentTokenFile(), of.identityDir(),
                of.health(), of.to(), null, null, 1);
    }
}
