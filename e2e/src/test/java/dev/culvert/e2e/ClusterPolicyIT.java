package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import dev.culvert.routing.RoutingConfig.Requests;
import dev.culvert.routing.RoutingConfig.Rule;
import dev.culvert.routing.RoutingConfig.Webhooks;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** What the cluster's owner denies, through a tunnel: refused in the cluster, kept in its audit log, changed while it runs. */
class ClusterPolicyIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private static RoutingConfig denying(int port, String path) {
        return new RoutingConfig(List.of(RouteConfig.of("/", "http://127.0.0.1:" + port)),
                new Policy(new Webhooks(List.of()),
                        new Requests(List.of(), List.of(new Rule(path, List.of("GET"))))),
                Map.of());
    }

    @Test
    void aDeniedPathIsRefusedInTheClusterAndKeptInItsAuditLog() throws Exception {
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.sendString(Mono.just("reached")))
                .bindNow();
        int port = ((InetSocketAddress) upstream.address()).getPort();
        try (Platform platform = Platform.start(folder)) {
            ClientConfig config = platform.clientConfig("acme", "prod",
                    platform.createRuntime("acme", "prod"),
                    null, denying(port, "/admin/"));
            TunnelClient client = platform.connect(config);

            assertThat(RawCaller.get(platform, "/x")).endsWith("reached");
            assertThat(RawCaller.get(platform, "/%61dmin//users?token=hush")).startsWith("HTTP/1.1 403 ")
                    .contains("not-allowed", "\"hop\":\"router\"");
            client.reload(platform.clientConfig("acme", "prod", null, null, denying(port, "/x/")),
                    "client.yaml");
            assertThat(RawCaller.get(platform, "/admin")).endsWith("reached");
            assertThat(RawCaller.get(platform, "/x")).startsWith("HTTP/1.1 403 ");
            client.stop(Duration.ZERO).block(PATIENCE);

            assertThat(Files.readAllLines(config.identityDir().resolve("audit-refused.log")))
                    .satisfiesExactly(
                            line -> assertThat(line)
                                    .contains("\"address\":\"127.0.0.1\"", "\"action\":\"GET\"",
                                            "/%61dmin//users\"", "\"requestId\":\"")
                                    .doesNotContain("hush"),
                            line -> assertThat(line).contains("/x\""));
            assertThat(Files.readString(config.identityDir().resolve("audit-changes.log")))
                    .contains("\"user\":\"client.yaml\",\"action\":\"policy\"");
        } finally {
            upstream.disposeNow();
        }
    }
}
