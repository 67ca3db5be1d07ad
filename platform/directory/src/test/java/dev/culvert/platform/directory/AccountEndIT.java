package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the App-Proxies of a deleted account learn. */
class AccountEndIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @Test
    void theyAreToldAtOnce(@TempDir Path folder) throws Exception {
        var told = new AtomicInteger();
        HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        proxy.createContext("/app-proxy/api/changes", exchange -> {
            told.incrementAndGet();
            exchange.sendResponseHeaders(202, -1);
            exchange.close();
        });
        proxy.start();
        try (ControlPlaneKit plane = ControlPlaneKit.start(folder,
                new ControlPlaneConfig.Nudge(List.of("http://127.0.0.1:*"), null))) {
            String other = plane
                    .id(plane.call("POST", "/api/accounts", plane.admin(), "{\"name\":\"other\"}"));
            String runtime = plane.json(plane.call("POST", "/api/keys?account=" + other, plane.admin(),
                    "{\"runtime\":\"prod\"}")).path("key").textValue();
            assertThat(plane.call("PUT", "/api/runtime", runtime, "{\"url\":\"http://127.0.0.1:"
                    + proxy.getAddress().getPort() + "\"}").statusCode()).isEqualTo(204);
            assertThat(told).hasValue(0);

            assertThat(plane.call("DELETE", "/api/accounts/" + other, plane.admin(), "").statusCode())
                    .isEqualTo(204);

            Awaitility.await().atMost(TIME).until(() -> told.get() > 0);
            assertThat(plane.call("GET", "/api/changes", runtime, "").statusCode()).isEqualTo(401);
        } finally {
            proxy.stop(0);
        }
    }
}
