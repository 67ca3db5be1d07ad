package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.ControlPlaneSettings;
import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.appproxy.argo.workflow.WorkflowsSettings;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.server.ServerConfig;
import dev.culvert.standins.argo.ClusterStandIn;
import dev.culvert.standins.argo.Samples;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;

/**
 * Permissions from end to end: a caller at the edge, the tunnel, the router, an App-Proxy whose handlers ask a real control
 * plane, which tells it of changes back through edge and tunnel. Looks by the App-Proxy itself are an hour apart, so what
 * is in force within a minute was told. The times are printed.
 */
class PermissionsIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final JsonMapper JSON = new JsonMapper();
    private static final EventLoops LOOPS = EventLoops.create(1);

    @TempDir
    static Path folder;

    private static Platform platform;
    private static ControlPlane plane;
    private static ClusterStandIn cluster;
    private static AppProxy proxy;
    private static String admin;
    private static String jo;

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws Exception {
        // The tunnel's certificate is for localhost, which the control plane can resolve.
        platform = Platform.start(folder, config -> new ServerConfig(
                onLocalhost(config.edge()), config.tunnel(), config.admin(), config.dataDir(),
                config.store()));
        cluster = Objects.requireNonNull(ClusterStandIn.start(LOOPS, "cluster-token").block(TIME));
        Files.writeString(folder.resolve("cluster.token"), "cluster-token");
        Path planeFolder = folder.resolve("plane");
        plane = Objects.requireNonNull(ControlPlane.start(ControlPlaneConfig.of(ANY, planeFolder,
                new ControlPlaneConfig.Nudge(List.of("https://localhost:*"), folder.resolve("ca.crt"))))
                .block(TIME));
        admin = Files.readString(planeFolder.resolve("admin.key")).strip();
        var it = new PermissionsIT();
        jo = it.made("/api/users", "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}").path("id").textValue();
        Files.writeString(folder.resolve("runtime.key"),
                it.made("/api/keys", "{\"runtime\":\"prod\"}").path("key").textValue());
        proxy = startedProxy();
        connect();
        Awaitility.await()
                .atMost(TIME)
                .until(
                        () -> it.plane("GET", "/api/runtimes", "").body().contains("https://localhost"));
    }

    @AfterAll
    static void stop() {
        platform.close();
        proxy.stop(Duration.ZERO).block(TIME);
        plane.stop(Duration.ZERO).block(TIME);
        cluster.stop().block(TIME);
        LOOPS.disposeLater(Duration.ZERO, TIME).block(TIME);
    }

    @Test
    void withoutPermissionNothingChangesAndWithARuleItDoesAtOnce() throws Exception {
        cluster.put(Samples.workflow("argo", "build-1"));
        String key = key();
        assertThat(terminate("build-1", key)).isEqualTo(403);
        assertThat(cluster.get("Workflow", "argo", "build-1").path("spec").has("shutdown")).isFalse();
        long added = System.nanoTime();

        String rule = allow();

        Awaitility.await()
                .atMost(TIME)
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> terminate("build-1", key) == 200);
        System.out.printf("a rule is in force after %s%n", since(added));
        assertThat(cluster.get("Workflow", "argo", "build-1").path("spec").path("shutdown").textValue())
                .isEqualTo("Terminate");
        assertThat(Files.readString(folder.resolve("audit/audit-changes.log"))).contains(jo, "TERMINATE",
                "argo/build-1", "\"decision\":\"allowed\"");
        assertThat(Files.readString(folder.resolve("audit/audit-refused.log"))).contains(jo,
                "\"decision\":\"denied\"");
        plane("DELETE", "/api/abac/" + rule, "");
    }

    @Test
    void aRevokedKeyIsRefusedAtOnceThroughTheTunnel() throws Exception {
        cluster.put(Samples.workflow("argo", "build-2"));
        String key = key();
        Awaitility.await().atMost(TIME).until(() -> terminate("build-2", key) == 403);
        long revoked = System.nanoTime();

        assertThat(plane("DELETE", "/api/keys/" + key.substring(0, 24), "").statusCode()).isEqualTo(204);

        Awaitility.await()
                .atMost(TIME)
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> terminate("build-2", key) == 401);
        System.out.printf("a revoked key is refused after %s%n", since(revoked));
    }

    private static ServerConfig.Edge onLocalhost(ServerConfig.Edge edge) {
        return new ServerConfig.Edge(edge.listen(), edge.domain(),
                new ServerConfig.Tls(folder.resolve("tunnel.crt"), folder.resolve("tunnel.key")),
                List.of(), false, edge.limits(), List.of(), false, false, true);
    }

    private static AppProxy startedProxy() {
        var kubernetes = new ApiSettings(cluster.uri(), folder.resolve("cluster.token"), null);
        var control = new ControlPlaneSettings(URI.create("http://" + plane.address()),
                folder.resolve("runtime.key"), null,
                URI.create("https://localhost:" + platform.server.edgeAddress().port()),
                Duration.ofMinutes(30),
                Duration.ofMinutes(5), Duration.ofMinutes(10), Duration.ofSeconds(3), 10_000,
                false);
        return Objects.requireNonNull(AppProxy.start(AppProxyConfig.of(ANY, "acme/prod",
                AppProxyConfig.Handlers.of(new WorkflowsSettings(null, kubernetes, "in-cluster", 8)))
                .with(control, folder.resolve("audit"))).block(TIME));
    }

    private static void connect() throws Exception {
        String made = platform.admin(HttpMethod.POST, "/api/v1/runtimes",
                "{\"account\":\"acme\",\"name\":\"prod\",\"hosts\":[\"localhost\"]}");
        Path token = Files.writeString(folder.resolve("enrol.token"),
                JSON.readTree(made).path("enrolmentToken").textValue());
        var router = new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of()),
                Map.of("cap-app-proxy", proxy.address()));
        platform.connect(platform.clientConfig("acme", "prod", token, null, router));
    }

    private int terminate(String workflow, String key) {
        String query = "{\"query\":\"mutation{terminateWorkflow(namespace:\\\"argo\\\",name:\\\"" + workflow
                + "\\\"){shutdown}}\"}";
        return Objects.requireNonNull(platform.caller("acme", "prod")
                .headers(fields -> fields.set("authorization", key).set("content-type", "application/json"))
                .post()
                .uri("/app-proxy/api/graphql")
                .send(ByteBufFlux.fromString(Mono.just(query)))
                .responseSingle((head, body) -> body.asString().then(Mono.just(head.status().code())))
                .block(TIME));
    }

    private String key() throws IOException, InterruptedException {
        return made("/api/keys", "{\"user\":\"" + jo + "\"}").path("key").textValue();
    }

    private String allow() throws IOException, InterruptedException {
        return made("/api/abac", "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\"],\"users\":[\"" + jo
                + "\"],\"attributes\":{\"namespace\":[\"argo\"],\"label\":[\"team=red\"]}}").path("id")
                .textValue();
    }

    private JsonNode made(String path, String body) throws IOException, InterruptedException {
        HttpResponse<String> answer = plane("POST", path, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        return JSON.readTree(answer.body());
    }

    private HttpResponse<String> plane(String method, String path, String body)
            throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                .header("Authorization", admin)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }
}
