package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.yaml.YamlFile;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
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
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * The life of runtimes from end to end: created at a control plane by the body that the public chart sends,
 * known to the tunnel server, served through edge and tunnel, deleted.
 */
class RuntimeLifeIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    /** The tunnel of a deleted runtime ends that long after the answer, at most. */
    private static final Duration END_OF_A_TUNNEL = Duration.ofSeconds(2);
    private static final JsonMapper JSON = new JsonMapper();
    /** As the public chart's test of its installation sends it. */
    private static final String CHART = """
            {"query": "\\n  mutation CreateRuntime($installationArgs: RuntimeInstallationArgs!) {\\n    createRuntime(installationArgs: $installationArgs) {\\n      newAccessToken\\n    }\\n  }\\n",
             "variables": {"installationArgs": {"runtimeName": "%s", "runtimeNamespace": "codefresh",
               "componentNames": [], "isExternalArgoCd": false, "chartVersion": "0.19.0",
               "cluster": "https://kubernetes.default.svc", "ingressClass": "nginx", "ingressController": "nginx",
               "ingressHost": "http://host.docker.internal:8080", "installationType": "HELM", "managed": false,
               "runtimeVersion": "0.1.71"}}}""";

    @TempDir
    static Path folder;

    private static Platform platform;
    private static ControlPlane plane;
    private static DisposableServer upstream;
    private static String admin;
    private static String account;

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void start() throws Exception {
        platform = Platform.start(folder);
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> request.uri().startsWith("/webhooks/")
                        ? response.status(503).send()
                        : response.sendString(Mono.just("ok")))
                .bindNow();
        String made = platform.admin(HttpMethod.POST, "/api/v1/admin-tokens",
                "{\"name\":\"plane\",\"role\":\"registrar\"}");
        Files.writeString(folder.resolve("registrar.token"), JSON.readTree(made).path("token").asText());
        Path file = folder.resolve("control-plane.yaml");
        Files.writeString(file, """
                listen: 127.0.0.1:0
                dataDir: %1$s/plane
                handlers:
                  runtimes:
                    server: http://%2$s
                    tokenFile: %1$s/registrar.token
                    authority: %1$s/ca.crt
                    domain: %3$s
                    hosted: %4$s
                """.formatted(folder, platform.server.adminAddress(), Platform.DOMAIN, to()));
        plane = Objects.requireNonNull(ControlPlane.start(ConfigBinder
                .bind(new ConfigSources(YamlFile.read(file), Map.of(), Map.of(), Map.of()),
                        List.of(ControlPlaneConfig.class))
                .value(ControlPlaneConfig.class)).block(TIME));
        admin = Files.readString(folder.resolve("plane").resolve("admin.key")).strip();
        account = new RuntimeLifeIT().call("GET", "/api/me", "").path("account").asText();
    }

    @AfterAll
    static void stop() {
        plane.stop(Duration.ZERO).block(TIME);
        platform.close();
        upstream.disposeNow();
    }

    @Test
    void theChartsTokenStartsAClientThatServesUntilTheRuntimeIsDeleted() throws Exception {
        String token = graphQl(CHART.formatted("test-runtime")).at("/data/createRuntime/newAccessToken")
                .asText();
        Path file = Files.writeString(folder.resolve("test-runtime.token"), token);
        awaitState("test-runtime", "ready");

        platform.connect(platform.clientConfig(account, "test-runtime", file, to(), null));

        assertThat(status("test-runtime", "/healthz")).isEqualTo(200);
        assertThat(graphQl(CHART.formatted("test-runtime")).at("/errors/0/extensions/status").asInt())
                .isEqualTo(409);

        graphQl("{\"query\":\"mutation { deleteRuntime(name: \\\"test-runtime\\\") }\"}");

        Awaitility.await()
                .atMost(END_OF_A_TUNNEL)
                .until(() -> status("test-runtime", "/healthz") == 404
                        && !platform.tunnels().contains("test-runtime"));
    }

    @Test
    void webhooksThatWaitKeepNoTunnelOfADeletedRuntime() throws Exception {
        String token = graphQl(CHART.formatted("waiting")).at("/data/createRuntime/newAccessToken").asText();
        Path file = Files.writeString(folder.resolve("waiting.token"), token);
        awaitState("waiting", "ready");
        platform.connect(platform.clientConfig(account, "waiting", file, null,
                new RoutingConfig(List.of(RouteConfig.of("/webhooks/", to().toString())),
                        RoutingConfig.Policy.refusing(), Map.of())));
        Awaitility.await()
                .atMost(TIME)
                .until(() -> platform.caller(account, "waiting")
                        .post()
                        .uri("/webhooks/waiting/push")
                        .send(ByteBufFlux.fromString(Mono.just("{}")))
                        .responseSingle((head, body) -> body.then(Mono.just(head.status().code())))
                        .blockOptional(TIME)
                        .orElseThrow() == 202);

        graphQl("{\"query\":\"mutation { deleteRuntime(name: \\\"waiting\\\") }\"}");

        Awaitility.await().atMost(END_OF_A_TUNNEL).until(() -> !platform.tunnels().contains("waiting"));
        assertThat(platform.runtime(account, "waiting")).contains("disconnected");
        Awaitility.await()
                .atMost(TIME)
                .until(() -> graphQl(CHART.formatted("waiting")).at("/errors/0/message")
                        .asText()
                        .contains("1 pending webhooks"));

        graphQl("{\"query\":\"mutation { deleteRuntime(name: \\\"waiting\\\", force: true) }\"}");

        Awaitility.await().atMost(TIME).until(() -> status("waiting", "/healthz") == 404);
    }

    @Test
    void aHostedRuntimeAnswersWithoutAClient() throws Exception {
        graphQl("{\"query\":\"mutation { createRuntime(installationArgs: {runtimeName: \\\"hosted\\\", managed: true}) { name } }\"}");

        awaitState("hosted", "ready");
        assertThat(status("hosted", "/healthz")).isEqualTo(200);
    }

    @Test
    void whatExistsGoesOnWithoutTheControlPlane() throws Exception {
        String token = graphQl(CHART.formatted("lasting")).at("/data/createRuntime/newAccessToken").asText();
        Path file = Files.writeString(folder.resolve("lasting.token"), token);
        awaitState("lasting", "ready");
        platform.connect(platform.clientConfig(account, "lasting", file, to(), null));

        stopPlane();

        try {
            assertThat(status("lasting", "/healthz")).isEqualTo(200);
            platform.disconnectAll();
            Awaitility.await().atMost(TIME).until(() -> status("lasting", "/healthz") == 200);
        } finally {
            restartPlane();
        }
    }

    private static URI to() {
        return URI.create("http://127.0.0.1:" + upstream.port());
    }

    private static void stopPlane() {
        plane.stop(Duration.ZERO).block(TIME);
    }

    private static void restartPlane() {
        plane = Objects.requireNonNull(ControlPlane.start(ConfigBinder
                .bind(new ConfigSources(YamlFile.read(folder.resolve("control-plane.yaml")), Map.of(),
                        Map.of(),
                        Map.of()), List.of(ControlPlaneConfig.class))
                .value(ControlPlaneConfig.class)).block(TIME));
    }

    private void awaitState(String name, String state) {
        Awaitility.await()
                .atMost(TIME)
                .until(() -> graphQl(
                        "{\"query\":\"{ runtime(name: \\\"" + name + "\\\") { tunnelServer } }\"}")
                        .at("/data/runtime/tunnelServer")
                        .asText()
                        .equals(state));
    }

    private static int status(String name, String path) {
        return platform.caller(account, name)
                .get()
                .uri(path)
                .responseSingle((head, body) -> body.then(Mono.just(head.status().code())))
                .blockOptional(TIME)
                .orElseThrow();
    }

    private JsonNode graphQl(String body) throws IOException, InterruptedException {
        return call("POST", "/2.0/api/graphql", body);
    }

    private JsonNode call(String method, String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                .header("authorization", admin)
                .header("content-type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        return JSON.readTree(http.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
}
