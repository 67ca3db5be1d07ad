package dev.culvert.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.admin.AdminToken;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RouterAuditFiles;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The admin listener of a router, over real sockets. */
class RouterAdminIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final JsonMapper JSON = new JsonMapper();
    private static final String ALL = "/api/v1/webhooks";

    @TempDir
    Path folder;
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> received = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private DisposableServer eventSource;
    private RouterServer router;

    @BeforeEach
    void start() {
        eventSource = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> {
                    if (status == 200) {
                        received.add(request.uri());
                    }
                    return response.status(HttpResponseStatus.valueOf(status)).send();
                })
                .bindNow();
        var routing = new RoutingConfig(List.of(), Policy.allowing(List.of("argo/*")),
                Map.of("push-eventsource-svc.argo.svc.cluster.local", local(eventSource.port()),
                        "other-eventsource-svc.argo.svc.cluster.local", local(eventSource.port())));
        router = Objects.requireNonNull(RouterServer.start(RouterConfig.of(ANY, routing)
                .with(null, null, folder)
                .operatedBy(new RouterConfig.Admin(ANY, null, List.of("router.argo.svc"), null)))
                .block(PATIENCE));
    }

    private static HostPort local(int port) {
        return new HostPort("127.0.0.1", port);
    }

    @AfterEach
    void stop() {
        router.stop(Duration.ZERO).block(PATIENCE);
        eventSource.disposeNow();
        client.close();
    }

    private HttpResponse<String> call(String method, String path, @Nullable String body,
            @Nullable String token) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://" + router.adminAddress() + path))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private JsonNode call(String method, String path, @Nullable String body, int expected) throws Exception {
        HttpResponse<String> answer = call(method, path, body, token());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(expected);
        return answer.body().isEmpty() ? JSON.missingNode() : JSON.readTree(answer.body());
    }

    private String token() throws IOException {
        return Files.readString(folder.resolve("admin.token")).strip();
    }

    private int post(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create("http://" + router.address() + path))
                .POST(BodyPublishers.ofString("{}"))
                .build(), BodyHandlers.ofString()).statusCode();
    }

    private long count(String state) throws Exception {
        return call("GET", ALL + "?state=" + state, null, 200).path("items").size();
    }

    private void dead(String path) throws Exception {
        status = 400;
        assertThat(post(path)).isEqualTo(400);
    }

    @Test
    void callsNeedTheTokenOfAFileThatOnlyItsOwnerReads() throws Exception {
        assertThat(Files.getPosixFilePermissions(folder.resolve("admin.token")))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(call("GET", ALL, null, (String) null).statusCode()).isEqualTo(401);
        assertThat(call("GET", ALL + "/x/y", null, "another-token-of-some-length").body())
                .contains("\"status\":401", "the token is unknown (expected: the token of admin.tokenFile)");
        assertThat(call("GET", ALL, null, 200).toString()).isEqualTo("{\"items\":[],\"next\":null}");
        assertThat(call("GET", "/", null, 404).path("type").asText()).endsWith("not-found");
    }

    @Test
    void aForeignHostIsMisdirected() throws Exception {
        assertThat(raw("evil.example")).startsWith("HTTP/1.1 421 ");
        assertThat(raw("router.argo.svc:9092")).startsWith("HTTP/1.1 200 ");
    }

    private String raw(String host) throws IOException {
        int port = Objects.requireNonNull(router.adminAddress()).port();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(("GET " + ALL + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer "
                            + token()
                            + "\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void aPausedSourceGetsNothingUntilItIsResumed() throws Exception {
        call("POST", ALL + "/pause", "{\"source\":\"argo/push\"}", 204);
        assertThat(post("/webhooks/argo/push/1")).isEqualTo(202);
        assertThat(count("pending")).isEqualTo(1);
        assertThat(received).isEmpty();

        call("POST", ALL + "/resume", "{\"source\":\"argo/push\"}", 204);

        await().atMost(PATIENCE).until(() -> received.size() == 1);
    }

    @Test
    void oneIsShownReplayedAndForgotten() throws Exception {
        dead("/webhooks/argo/push/1?secret=x");
        await().atMost(PATIENCE).until(() -> count("dead") == 1);
        JsonNode listed = call("GET", ALL + "?source=argo/push", null, 200).at("/items/0");
        String id = listed.path("id").asText();
        assertThat(listed.path("account").isNull()).isTrue();
        assertThat(listed.path("path").asText()).isEqualTo("/webhooks/argo/push/1");
        status = 200;

        assertThat(call("POST", ALL + "/" + id + "/replay", null, 202).path("id").asText()).isEqualTo(id);
        await().atMost(PATIENCE).until(() -> count("delivered") == 1);
        call("DELETE", ALL + "/" + id, null, 204);

        call("GET", ALL + "/" + id, null, 404);
        assertThat(received).containsExactly("/webhooks/argo/push/1?secret=x");
    }

    @Test
    void thoseOfAFilterAreCountedReplayedAndForgottenWithOneRecordEach() throws Exception {
        dead("/webhooks/argo/other/0");
        for (int i = 0; i < 3; i++) {
            dead("/webhooks/argo/push/" + i);
        }
        await().atMost(PATIENCE).until(() -> count("dead") == 4);
        status = 200;
        String filter = "{\"source\":\"argo/push\",\"state\":\"dead\",\"since\":\""
                + Instant.now().minusSeconds(3600) + "\"";

        assertThat(call("POST", ALL + "/replay", filter + ",\"dryRun\":true}", 200).toString())
                .isEqualTo("{\"matched\":3}");
        assertThat(call("POST", ALL + "/replay", filter + "}", 202).toString())
                .isEqualTo("{\"replayed\":3,\"skipped\":0,\"next\":null}");
        await().atMost(PATIENCE).until(() -> count("delivered") == 3);
        assertThat(received).containsExactly("/webhooks/argo/push/0", "/webhooks/argo/push/1",
                "/webhooks/argo/push/2");
        assertThat(call("POST", ALL + "/purge", "{\"state\":\"delivered\",\"limit\":2}", 200)
                .path("purged")
                .asInt()).isEqualTo(2);
        assertThat(call("DELETE", ALL + "?source=argo/push", null, 200).path("purged").asInt()).isEqualTo(1);

        assertThat(count("dead")).isEqualTo(1);
        await().atMost(PATIENCE).until(() -> audit().size() == 3);
        assertThat(audit().get(0).path("action").asText()).isEqualTo("webhooks replayed");
        assertThat(audit().get(0).path("object").asText()).startsWith("3: argo/push, dead, since ");
        assertThat(audit().get(0).path("user").asText()).isEqualTo("admin");
        assertThat(audit().get(1).path("object").asText()).isEqualTo("2: delivered");
        assertThat(audit()).hasSize(3);
    }

    private List<JsonNode> audit() throws IOException {
        Path file = folder.resolve("audit-changes.log");
        return Files.exists(file)
                ? Files.readAllLines(file)
                        .stream()
                        .map(RouterAdminIT::json)
                        .filter(line -> line.path("entity").asText().equals("webhooks"))
                        .toList()
                : List.of();
    }

    private static JsonNode json(String line) {
        try {
            return JSON.readTree(line);
        } catch (IOException e) {
            throw new AssertionError(line, e);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"replay|{}|the filter is empty",
            "purge|{\"until\":\"2026-11-25T12:00:00Z\"}|names no webhooks", "replay|{\"ids\":[1]}|ids",
            "replay|{\"since\":\"12:00\"}|since: not a time",
            "replay|{\"state\":\"lost\"}|state: not a state",
            "replay|{\"account\":\"a\",\"name\":\"b\"}|only one runtime",
            "purge|{\"state\":\"dead\",\"limit\":0}|limit", "purge|{\"state\":\"dead\",\"next\":\"1\"}|next",
            "replay|[]|not a JSON object", "replay|{\"source\":\"\"}|source: no text",
            "pause|{\"source\":\"\"}|source"})
    void aWrongBodyIsABadRequest(String call, String body, String detail) throws Exception {
        assertThat(call("POST", ALL + "/" + call, body, 400).path("detail").asText()).contains(detail);
    }

    @ParameterizedTest
    @ValueSource(strings = {"?account=a&name=b", "?state=x", "?limit=0"})
    void aWrongQueryIsABadRequest(String query) throws Exception {
        call("GET", ALL + query, null, 400);
    }

    @Test
    void everyCallIsDescribedAndNothingElse() throws Exception {
        HttpResponse<String> description = call("GET", "/openapi.yaml", null, (String) null);
        JsonNode document = JSON
                .valueToTree(new Load(LoadSettings.builder().build()).loadFromString(description.body()));
        Set<String> described = new TreeSet<>();
        document.path("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(method -> described
                                .add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        described.removeIf(name -> name.startsWith("PARAMETERS "));
        RouterAuditFiles audit = RouterAuditFiles.in(folder);
        var handler = RouterAdmin.handler(
                Objects.requireNonNull(AdminToken.load(folder.resolve("admin.token")).block(PATIENCE)),
                Objects.requireNonNull(router.inbox()).webhooks(), audit);
        audit.close();

        assertThat(described).isEqualTo(handler.routes()
                .stream()
                .map(route -> route.method() + " " + route.template())
                .collect(Collectors.toCollection(TreeSet::new)));
        assertThat(document.findValuesAsText("$ref")).isNotEmpty()
                .allSatisfy(reference -> assertThat(document.at(reference.substring(1)).isMissingNode())
                        .as(reference)
                        .isFalse());
    }
}
