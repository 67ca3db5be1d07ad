package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.argo.ApiSettings;
import dev.culvert.appproxy.argo.WorkflowsSettings;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.config.HostPort;
import dev.culvert.platform.directory.ControlPlane;
import dev.culvert.platform.directory.ControlPlaneConfig;
import dev.culvert.router.RoutingConfig;
import dev.culvert.standins.argo.ClusterStandIn;
import dev.culvert.standins.argo.PodLog;
import dev.culvert.standins.argo.Samples;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.http.client.HttpClient;
import reactor.test.StepVerifier;

/**
 * Workflows through edge, WSS tunnel, router and App-Proxy, with a real control plane: who may not changes nothing; who gets a
 * rule may within seconds.
 */
@SuppressWarnings("NullAway.Init")
class WorkflowsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final HostPort ANY_PORT = HostPort.parse("127.0.0.1:0");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    static Path folder;

    private static EventLoops loops;
    private static ClusterStandIn cluster;
    private static ControlPlane plane;
    private static AppProxy appProxy;
    private static Platform platform;
    private static String admin;
    private static String user;
    private static String key;

    @BeforeAll
    static void start() throws Exception {
        loops = EventLoops.create(1);
        cluster = Objects.requireNonNull(ClusterStandIn.start(loops, "cluster").block(PATIENCE));
        plane = Objects.requireNonNull(ControlPlane
                .start(ControlPlaneConfig.of(ANY_PORT, folder.resolve("plane"),
                        ControlPlaneConfig.Nudge.none()))
                .block(PATIENCE));
        admin = Files.readString(folder.resolve("plane/admin.key")).strip();
        user = made("/api/users", "{\"name\":\"Ann\",\"email\":\"ann@example.com\"}").path("id").asText();
        key = made("/api/keys", "{\"user\":\"" + user + "\",\"name\":\"a\"}").path("key").asText();
        Path runtimeKey = Files.writeString(folder.resolve("runtime.key"),
                made("/api/keys", "{\"runtime\":\"prod\",\"name\":\"r\"}").path("key").asText());
        var kubernetes = new ApiSettings(cluster.uri(),
                Files.writeString(folder.resolve("cluster"), "cluster"), null);
        var asks = new ControlPlaneSettings(URI.create("http://" + plane.address()), runtimeKey, null, null,
                Duration.ofSeconds(60), Duration.ofSeconds(5), Duration.ofMillis(200), Duration.ofSeconds(3),
                1_000);
        appProxy = Objects.requireNonNull(AppProxy.start(AppProxyConfig
                .of(ANY_PORT, "acme/prod",
                        AppProxyConfig.Handlers.of(new WorkflowsSettings(null, kubernetes, "in-cluster", 8)))
                .with(asks, folder.resolve("audit"))).block(PATIENCE));
        platform = Platform.start(Files.createDirectory(folder.resolve("platform")));
        platform.connect(platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null,
                new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of()),
                        Map.of("cap-app-proxy", appProxy.address()))));
    }

    @AfterAll
    static void stop() {
        platform.close();
        appProxy.stop(Duration.ZERO).block(PATIENCE);
        plane.stop(Duration.ZERO).block(PATIENCE);
        cluster.stop().block(PATIENCE);
        loops.disposeLater(Duration.ZERO, PATIENCE).block(PATIENCE);
    }

    @Test
    void whoMayNotChangesNothingAndWhoGetsARuleMay() throws IOException {
        cluster.put(Samples.workflow("argo", "build"));
        assertThat(terminate("build")).startsWith("403 ").contains("not-allowed");
        assertThat(cluster.changes()).isEmpty();
        assertThat(cluster.get("Workflow", "argo", "build").path("spec").has("shutdown")).isFalse();

        var _ = made("/api/abac",
                "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\",\"ACCESS_LOGS\"],\"users\":[\"" + user
                        + "\"],\"attributes\":{\"namespace\":[\"argo\"],\"label\":[\"team=red\"]}}");

        await().atMost(Duration.ofSeconds(5)).until(() -> terminate("build").startsWith("200 "));
        JsonNode now = cluster.get("Workflow", "argo", "build");
        assertThat(now.path("spec").path("shutdown").asText()).isEqualTo("Terminate");
        assertThat(now.path("status").path("phase").asText()).isEqualTo("Failed");
        assertThat(terminate("build")).startsWith("409 ").contains("cannot shutdown a completed workflow");
        assertThat(Files.readString(folder.resolve("audit/audit-changes.log"))).contains("\"TERMINATE\"",
                "\"argo/build\"",
                user);

        logsCrossLineByLine();
    }

    private static void logsCrossLineByLine() {
        cluster.put(Samples.workflow("argo", "talk"));
        cluster.put(Samples.pod("argo", "talk", "talk-1"));
        PodLog log = cluster.log("argo", "talk-1").write("one");

        StepVerifier.create(caller().get()
                .uri("/app-proxy/api/workflows/argo/talk/log?follow=true")
                .responseContent()
                .asString(StandardCharsets.UTF_8))
                .assertNext(event -> assertThat(event).contains("\"content\":\"one\""))
                .then(() -> log.write("two"))
                .assertNext(event -> assertThat(event).contains("\"content\":\"two\""))
                .thenCancel()
                .verify(PATIENCE);

        await().atMost(PATIENCE).until(() -> log.followers() == 0);
    }

    private static String terminate(String name) {
        String query = "{\"query\":\"mutation { terminateWorkflow(namespace: \\\"argo\\\", name: \\\"" + name
                + "\\\") { name shutdown } }\"}";
        return caller().post()
                .uri("/app-proxy/api/graphql")
                .send(ByteBufFlux.fromString(Mono.just(query)))
                .responseSingle(
                        (head, body) -> body.asString().map(text -> head.status().code() + " " + text))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static HttpClient caller() {
        return platform.caller("acme", "prod")
                .headers(
                        headers -> headers.set("authorization", key).set("content-type", "application/json"));
    }

    private static JsonNode made(String path, String body) throws IOException {
        return JSON.readTree(HttpClient.create()
                .headers(headers -> headers.set("authorization", admin)
                        .set("content-type", "application/json"))
                .post()
                .uri("http://" + plane.address() + path)
                .send(ByteBufFlux.fromString(Mono.just(body)))
                .responseContent()
                .aggregate()
                .asString()
                .blockOptional(PATIENCE)
                .orElseThrow());
    }
}
