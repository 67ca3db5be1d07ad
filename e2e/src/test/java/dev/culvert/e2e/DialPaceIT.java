package dev.culvert.e2e;

import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.tcp.TcpServer;

/** A server that is back, or too busy to answer, meets one connection of each client and not all of them. */
class DialPaceIT {
    private static final URI NOWHERE = URI.create("http://127.0.0.1:9");
    /** The second connection is due a second after the first. */
    private static final Duration LONGER = Duration.ofMillis(1800);
    private static final int CONNECTIONS = 4;

    @TempDir
    Path folder;

    @Test
    void oneConnectionOfAClientDialsUntilItIsLive() throws Exception {
        AtomicInteger dials = new AtomicInteger();
        DisposableServer silent = TcpServer.create()
                .host("127.0.0.1")
                .port(0)
                .doOnConnection(dialled -> dials.incrementAndGet())
                .handle((in, out) -> Mono.never())
                .bindNow();
        try (Platform platform = Platform.start(folder)) {
            platform.connect("acme", "prod", NOWHERE).stop(Duration.ZERO).block();
            ClientConfig usual = platform.clientConfig("acme", "prod", null, NOWHERE, null, silent.port());
            TunnelClient client = platform.start(new ClientConfig(usual.server(), null, null,
                    usual.identityDir(), usual.health(), NOWHERE, null, null, CONNECTIONS), event -> {});
            await().until(() -> dials.get() == 1);
            await().during(LONGER).until(() -> dials.get() == 1);

            client.pause();
            client.resume();

            await().until(() -> dials.get() == 2);
            await().during(LONGER).until(() -> dials.get() == 2);
        } finally {
            silent.disposeNow();
        }
    }
}
