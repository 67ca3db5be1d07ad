package dev.culvert.appproxy.access;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.net.EventLoops;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.relay.testing.EventLoopWatch;
import io.netty.handler.codec.http.HttpResponseStatus;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** A handler that terminates workflows, behind the real access and a real control plane. */
class AccessIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final HostPort ANY = new HostPort("127.0.0.1", 0);
    private static final Operation TERMINATE = new Operation("TERMINATE", "workflows", "argo/build-42",
            Map.of("namespace", "argo"));

    @TempDir
    Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private final AtomicInteger terminated = new AtomicInteger();
    private final EventLoops loops = EventLoops.create();
    private ControlPlane plane;
    private HostPort planeAddress;
    private @Nullable AccessService service;
    private @Nullable EdgeServer proxy;
    private String admin = "";
    private String jo = "";
    private String key = "";
    private boolean runtimeTokensOnly;

    @BeforeAll
    static void watch() {
        EventLoopWatch.install();
    }

    @BeforeEach
    void start() throws Exception {
        planeAddress = ANY;
        startPlane();
        admin = Files.readString(folder.resolve("admin.key")).strip();
        jo = made("/api/users", "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}").path("id").textValue();
        key = made("/api/keys", "{\"user\":\"" + jo + "\"}").path("key").textValue();
        Files.writeString(folder.resolve("runtime.key"),
                made("/api/keys", "{\"runtime\":\"prod\"}").path("key").textValue());
    }

    @AfterEach
    void stop() {
        if (proxy != null) {
            proxy.stop(Duration.ZERO).block(TIME);
        }
        if (service != null) {
            service.stop().block(TIME);
        }
        plane.stop(Duration.ZERO).block(TIME);
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(TIME);
    }

    @Test
    void withARuleTheRefusedMayWithinTheTimeOfARefusal() throws Exception {
        startProxy(Duration.ofSeconds(60), Duration.ofMinutes(10), false);
        HttpResponse<String> refused = terminate(key);
        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.body()).contains("urn:culvert:problem:not-allowed");
        assertThat(terminated).hasValue(0);

        made("/api/abac",
                "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\"],\"users\":[\"" + jo + "\"]}");

        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 200);
        assertThat(terminated).hasValue(1);
        assertThat(Files.readString(folder.resolve("audit/audit-refused.log"))).contains(jo);
        assertThat(Files.readString(folder.resolve("audit/audit-changes.log"))).contains(jo, "allowed")
                .doesNotContain(key);
    }

    @Test
    void aRevokedKeyIsRefusedAfterTheNudge() throws Exception {
        startProxy(Duration.ofMinutes(5), Duration.ofMinutes(10), true);
        allowAll();
        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 200);
        long revoked = System.nanoTime();

        assertThat(call("DELETE", planeAddress, "/api/keys/" + key.substring(0, 24), admin, "").statusCode())
                .isEqualTo(204);

        Awaitility.await()
                .atMost(TIME)
                .pollInterval(Duration.ofMillis(20))
                .until(
                        () -> terminate(key).statusCode() == 401);
        System.out.printf("a revoked key is refused after %s%n",
                Duration.ofNanos(System.nanoTime() - revoked));
    }

    @Test
    void aRevokedKeyEndsItsRuntimeTokensToo() throws Exception {
        startProxy(Duration.ofMinutes(5), Duration.ofMinutes(10), true);
        allowAll();
        String token = runtimeToken("prod");
        Awaitility.await().atMost(TIME).until(() -> terminate(token).statusCode() == 200);

        assertThat(call("DELETE", planeAddress, "/api/keys/" + key.substring(0, 24), admin, "").statusCode())
                .isEqualTo(204);

        Awaitility.await().atMost(TIME).until(() -> terminate(token).statusCode() == 401);
    }

    /** As when its account is deleted: what it remembers is not its to serve any more. */
    @Test
    void aRuntimeWhoseKeyIsRevokedServesNobody() throws Exception {
        startProxy(Duration.ofMinutes(5), Duration.ofMillis(200), false);
        allowAll();
        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 200);
        String runtimes = Files.readString(folder.resolve("runtime.key")).substring(0, 24);

        assertThat(call("DELETE", planeAddress, "/api/keys/" + runtimes, admin, "").statusCode())
                .isEqualTo(204);

        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 503);
        assertThat(terminate(key).body()).contains("refuses this runtime's API key");
    }

    @Test
    void aKeyRevokedWithoutANudgeIsSeenAtTheNextLook() throws Exception {
        startProxy(Duration.ofMinutes(5), Duration.ofMillis(200), false);
        allowAll();
        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 200);

        call("DELETE", planeAddress, "/api/keys/" + key.substring(0, 24), admin, "");

        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 401);
    }

    @Test
    void withoutTheControlPlaneAnswersServeTheirTimeThenItIs503AndBackAtOnce() throws Exception {
        startProxy(Duration.ofSeconds(5), Duration.ofMinutes(10), false);
        Awaitility.await().atMost(TIME).until(() -> Objects.requireNonNull(service).isFollowing());
        allowAll();
        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 200);
        long known = System.nanoTime();
        plane.stop(Duration.ZERO).block(TIME);

        assertThat(terminate(key).statusCode()).isEqualTo(200);
        Awaitility.await().atMost(TIME).until(() -> terminate(key).statusCode() == 503);
        System.out.printf("answers served for %s%n", Duration.ofNanos(System.nanoTime() - known));
        HttpResponse<String> closed = terminate(key);
        assertThat(closed.body()).contains("urn:culvert:problem:unavailable", "the connection was refused")
                .doesNotContain(planeAddress.toString());
        assertThat(closed.headers().firstValue("retry-after")).contains("1");
        int before = terminated.get();

        startPlane();

        assertThat(terminate(key).statusCode()).isEqualTo(200);
        assertThat(terminated).hasValue(before + 1);
    }

    @Test
    void aUserOfAnotherAccountFindsNothingHere() throws Exception {
        startProxy(Duration.ofSeconds(60), Duration.ofMinutes(10), false);
        String other = made("/api/accounts", "{\"name\":\"other\"}").path("id").textValue();
        String stranger = made("/api/users?account=" + other,
                "{\"name\":\"X\",\"email\":\"x@o.test\",\"admin\":true}")
                .path("id")
                .textValue();
        String strangers = made("/api/keys?account=" + other, "{\"user\":\"" + stranger + "\"}").path("key")
                .textValue();

        assertThat(terminate(strangers).statusCode()).isEqualTo(404);
        assertThat(terminate("nonsense").statusCode()).isEqualTo(401);
        assertThat(terminated).hasValue(0);
    }

    @Test
    void aHundredWhoAskTheSameAtTheSameTimeAreAllServed() throws Exception {
        startProxy(Duration.ofSeconds(60), Duration.ofMinutes(10), false);
        allowAll();

        List<CompletableFuture<HttpResponse<String>>> all = IntStream.range(0, 100)
                .mapToObj(i -> http.sendAsync(request("POST", proxyAddress(), "/terminate", key, ""),
                        HttpResponse.BodyHandlers.ofString()))
                .toList();

        for (CompletableFuture<HttpResponse<String>> one : all) {
            assertThat(one.get().statusCode()).isEqualTo(200);
        }
        assertThat(terminated).hasValue(100);
    }

    @Test
    void aRuntimeTokenServesItsRuntimeAndNoKey() throws Exception {
        runtimeTokensOnly = true;
        startProxy(Duration.ofSeconds(60), Duration.ofMinutes(10), false);
        allowAll();
        made("/api/keys", "{\"runtime\":\"other\"}");

        assertThat(terminate(runtimeToken("prod")).statusCode()).isEqualTo(200);
        assertThat(terminate(runtimeToken("other")).statusCode()).isEqualTo(401);
        HttpResponse<String> refused = terminate(key);
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.body()).contains("POST /api/runtime-tokens");
    }

    private String runtimeToken(String runtime) throws Exception {
        return json
                .readTree(call("POST", planeAddress, "/api/runtime-tokens", key,
                        "{\"runtime\":\"" + runtime + "\"}").body())
                .path("token")
                .textValue();
    }

    private void startPlane() {
        plane = Objects.requireNonNull(ControlPlane.start(ControlPlaneConfig.of(planeAddress, folder,
                new ControlPlaneConfig.Nudge(List.of("http://127.0.0.1:*"), null))).block(TIME));
        planeAddress = plane.address();
    }

    private void startProxy(Duration ttl, Duration poll, boolean nudged) throws IOException {
        HostPort listen = ANY;
        URI publicUrl = null;
        if (nudged) { // its own port has to be known before it listens
            EdgeServer probe = Objects.requireNonNull(
                    EdgeServer.start(EdgeServer.Setup.of(ANY, loops), request -> Mono.empty()).block(TIME));
            listen = probe.address();
            probe.stop(Duration.ZERO).block(TIME);
            publicUrl = URI.create("http://" + listen);
        }
        var settings = new ControlPlaneSettings(URI.create("http://" + planeAddress),
                folder.resolve("runtime.key"),
                null, publicUrl, ttl, Duration.ofMillis(500), poll, Duration.ofSeconds(3), 10_000,
                runtimeTokensOnly);
        AccessService made = AccessService.of(settings, folder.resolve("audit"), loops);
        service = made;
        made.start().block(TIME);
        proxy = EdgeServer.start(EdgeServer.Setup.of(listen, loops).filter(made), terminator(made.access()))
                .block(TIME);
        if (nudged) {
            Awaitility.await()
                    .atMost(TIME)
                    .until(
                            () -> call("GET", planeAddress, "/api/runtimes", admin, "").body()
                                    .contains("http"));
        }
    }

    private EdgeHandler terminator(Access access) {
        return request -> access.caller(request.headers())
                .flatMap(caller -> access.change(caller, TERMINATE, request.context(),
                        Mono.fromSupplier(() -> {
                            terminated.incrementAndGet();
                            return EdgeResponse.Http.empty(HttpResponseStatus.OK);
                        })));
    }

    private void allowAll() throws Exception {
        made("/api/abac",
                "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\"],\"users\":[\"" + jo + "\"]}");
    }

    private JsonNode made(String path, String body) throws IOException, InterruptedException {
        HttpResponse<String> answer = call("POST", planeAddress, path, admin, body);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
        return json.readTree(answer.body());
    }

    private HostPort proxyAddress() {
        return Objects.requireNonNull(proxy).address();
    }

    private HttpResponse<String> terminate(String with) throws IOException, InterruptedException {
        return call("POST", proxyAddress(), "/terminate", with, "");
    }

    private HttpResponse<String> call(String method, HostPort to, String path, String with, String body)
            throws IOException, InterruptedException {
        return http.send(request(method, to, path, with, body), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(String method, HostPort to, String path, String with, String body) {
        return HttpRequest.newBuilder(URI.create("http://" + to + path))
                .header("Authorization", with)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
    }
}
