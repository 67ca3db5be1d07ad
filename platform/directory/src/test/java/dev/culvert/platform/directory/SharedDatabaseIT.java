package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.StoreSettings;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.postgres.testing.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;

/** Two control planes with one PostgreSQL database, and what happens to a database. */
class SharedDatabaseIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private final DatabaseServer server = TestServer.database();
    private DatabaseGate gate;
    private List<ControlPlane> planes;
    private String admin = "";

    /** Both start at once with an empty database. */
    @BeforeEach
    void start() throws IOException {
        gate = new DatabaseGate(server.hosts());
        Path tokenKey = folder.resolve("token.key");
        planes = Objects.requireNonNull(Flux
                .just(TestStore.at(gate.hosts(), server.database()), TestStore.at(server))
                .index()
                .flatMap(each -> ControlPlane
                        .start(config(folder.resolve("plane" + each.getT1()), each.getT2(), tokenKey)))
                .collectSortedList((a, b) -> Integer.compare(a.address().port(), b.address().port()))
                .block(TIME));
        try (Stream<Path> files = Files.walk(folder)) {
            List<Path> keys = files.filter(file -> file.endsWith("admin.key")).toList();
            assertThat(keys).hasSize(1);
            admin = Files.readString(keys.getFirst()).strip();
        }
    }

    @AfterEach
    void stop() throws IOException {
        planes.forEach(plane -> plane.stop(Duration.ZERO).block(TIME));
        gate.close();
    }

    private static ControlPlaneConfig config(Path folder, StoreSettings store, Path tokenKey) {
        ControlPlaneConfig own = ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder, store,
                ControlPlaneConfig.Nudge.none());
        return new ControlPlaneConfig(own.listen(), own.tls(), own.dataDir(), own.store(), own.adminKeyFile(),
                own.firstAccount(), new ControlPlaneConfig.TokenKeys(tokenKey), own.platform(), own.nudge(),
                own.handlers(),
                own.limits(), own.trustedProxies());
    }

    @Test
    void twoStartsMakeOneFirstAccount() throws Exception {
        for (ControlPlane plane : planes) {
            assertThat(items(plane, "/api/accounts")).hasSize(1);
            assertThat(items(plane, "/api/keys")).hasSize(1);
        }
    }

    @Test
    void aChangeAtOneIsSeenAtTheOther() throws Exception {
        String runtime = json(post(planes.get(0), "/api/keys", "{\"runtime\":\"prod\"}", "")).path("key")
                .textValue();
        long next = json(send(planes.get(1), "GET", "/api/changes", runtime, "", "")).path("next")
                .longValue();
        int seen = 0;
        for (int i = 0; i < 200; i++) {
            assertThat(post(planes.get(i % 2), "/api/users", user(i), "").statusCode()).isEqualTo(201);
            JsonNode changes = json(
                    send(planes.get((i + 1) % 2), "GET", "/api/changes?since=" + next, runtime, "", ""));
            seen += changes.path("changes").size();
            next = changes.path("next").longValue();
        }

        assertThat(seen).isEqualTo(200);
        assertThat(items(planes.get(1), "/api/users")).hasSize(201);
    }

    /** They are counted by the numbers of the first and the last. */
    @Test
    void tooManyNamedRequestsAreRefusedForAMinute() throws Exception {
        TestServer.execute(server.database(),
                "INSERT INTO platform_requests (account, caller, request, digest,"
                        + " created, place) SELECT account, 'x', place::text, 'd',"
                        + " (extract(epoch FROM clock_timestamp()) * 1000)::bigint, place"
                        + " FROM users, (VALUES (1), (50000)) AS n(place) WHERE operator <> 0");

        HttpResponse<String> refused = post(planes.get(0), "/api/users", user(1), "k-1");

        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(refused.headers().firstValue("retry-after")).contains("60");
        assertThat(refused.body()).contains("rate-limited", "50000 requests with an Idempotency-Key");
        assertThat(post(planes.get(0), "/api/users", user(1), "").statusCode()).isEqualTo(201);
    }

    /** What a process remembers follows the feed. */
    @Test
    void aDecisionFollowsTheRulesOfTheOther() throws Exception {
        String jo = id(post(planes.get(0), "/api/users", user(1), ""));
        String ask = "{\"user\":\"" + jo + "\",\"entity\":\"workflows\",\"action\":\"TERMINATE\"}";
        for (int i = 0; i < 5; i++) {
            assertThat(decide(planes.get(1), ask)).isFalse();
            String rule = id(post(planes.get(0), "/api/abac",
                    "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\"],\"users\":[\"" + jo + "\"]}", ""));
            await().atMost(Duration.ofSeconds(5)).until(() -> decide(planes.get(1), ask));
            send(planes.get(0), "DELETE", "/api/abac/" + rule, admin, "", "");
            await().atMost(Duration.ofSeconds(5)).until(() -> !decide(planes.get(1), ask));
        }
    }

    @Test
    void theSameRequestSentAgainMakesOneRow() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> same = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            same.add(http.sendAsync(request(planes.get(i % 2), "POST", "/api/users", admin, user(7), "k-1"),
                    HttpResponse.BodyHandlers.ofString()));
        }
        for (var each : same) {
            assertThat(each.get().statusCode()).isEqualTo(201);
            assertThat(each.get().body()).isEqualTo(same.getFirst().get().body());
            assertThat(each.get().headers().firstValue("location"))
                    .isEqualTo(same.getFirst().get().headers().firstValue("location"));
        }
        assertThat(same.stream()
                .filter(each -> each.join().headers().firstValue("idempotency-replayed").isPresent()))
                .hasSize(9);
        assertThat(items(planes.get(0), "/api/users")).hasSize(2);

        assertThat(post(planes.get(0), "/api/users", user(8), "k-1").statusCode()).isEqualTo(409);
        assertThat(post(planes.get(0), "/api/users", user(8), "x".repeat(256)).statusCode()).isEqualTo(400);
        assertThat(post(planes.get(0), "/api/keys", "{\"runtime\":\"prod\"}", "k-2").statusCode())
                .isEqualTo(201);
        HttpResponse<String> again = post(planes.get(1), "/api/keys", "{\"runtime\":\"prod\"}", "k-2");
        assertThat(again.statusCode()).isEqualTo(409);
        assertThat(again.body()).contains("its answer has a secret and is given once");
        assertThat(items(planes.get(0), "/api/keys")).hasSize(2);
    }

    @Test
    void whatIsNotConfirmedSaysSoAndIsNotMadeTwice() throws Exception {
        ControlPlane behind = behindTheGate();
        gate.breakAtCommit();

        HttpResponse<String> unknown = post(behind, "/api/users", user(3), "k-3");

        assertThat(unknown.statusCode()).isEqualTo(503);
        assertThat(unknown.body()).contains("store-unavailable", "it may have happened or not");
        assertThat(unknown.headers().firstValue("retry-after")).isEmpty();
        HttpResponse<String> again = post(behind, "/api/users", user(3), "k-3");
        assertThat(again.statusCode()).isEqualTo(201);
        assertThat(items(behind, "/api/users")).hasSize(2);
    }

    @Test
    void aDatabaseThatIsAwayIsNamedAndComesBack() throws Exception {
        ControlPlane behind = behindTheGate();
        gate.shut();

        await().atMost(TIME).until(() -> post(behind, "/api/users", user(4), "").statusCode() == 503);
        HttpResponse<String> refused = post(behind, "/api/users", user(4), "");
        assertThat(refused.body()).contains("store-unavailable", "can't be reached; nothing was changed");
        assertThat(refused.headers().firstValue("retry-after")).hasValue("1");
        HttpResponse<String> ready = send(behind, "GET", "/readyz", "", "", "");
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.body()).contains("store: the PostgreSQL database", "can't be reached");
        List<CompletableFuture<HttpResponse<String>>> many = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            many.add(http.sendAsync(request(behind, "GET", "/api/users", admin, "", ""),
                    HttpResponse.BodyHandlers.ofString()));
        }
        for (var each : many) {
            assertThat(each.get().statusCode()).isEqualTo(503);
        }

        gate.reopen();
        await().atMost(TIME).until(() -> post(behind, "/api/users", user(5), "").statusCode() == 201);
        await().atMost(TIME).until(() -> send(behind, "GET", "/readyz", "", "", "").statusCode() == 200);
    }

    @Test
    void auditLinesNameTheirProcess() throws Exception {
        post(planes.get(0), "/api/users", user(6), "");

        try (Stream<Path> files = Files.walk(folder)) {
            Path log = files.filter(file -> file.endsWith("audit-changes.log")).findFirst().orElseThrow();
            assertThat(Files.readString(log)).contains("\"process\":\"",
                    ":" + ProcessHandle.current().pid() + "\"");
        }
    }

    /** The one whose changes wait for the gate. */
    private ControlPlane behindTheGate() throws Exception {
        gate.shut();
        for (int i = 0; i < 100; i++) {
            for (ControlPlane plane : planes) {
                if (send(plane, "GET", "/api/users", admin, "", "").statusCode() == 503) {
                    gate.reopen();
                    await().atMost(TIME)
                            .until(() -> send(plane, "GET", "/api/users", admin, "", "").statusCode() == 200);
                    return plane;
                }
            }
        }
        throw new IllegalStateException("no control plane is behind the gate");
    }

    private boolean decide(ControlPlane plane, String ask) throws IOException, InterruptedException {
        return json(post(plane, "/api/abac/decide", ask, "")).path("isValid").booleanValue();
    }

    private static String user(int number) {
        return "{\"name\":\"U\",\"email\":\"u" + number + "@acme.test\"}";
    }

    private JsonNode items(ControlPlane plane, String path) throws IOException, InterruptedException {
        return json(send(plane, "GET", path, admin, "", "")).path("items");
    }

    private String id(HttpResponse<String> made) throws IOException {
        assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        return json(made).path("id").textValue();
    }

    private JsonNode json(HttpResponse<String> answer) throws IOException {
        return json.readTree(answer.body());
    }

    private HttpResponse<String> post(ControlPlane plane, String path, String body, String name)
            throws IOException, InterruptedException {
        return send(plane, "POST", path, admin, body, name);
    }

    private HttpResponse<String> send(ControlPlane plane, String method, String path, String key, String body,
            String name) throws IOException, InterruptedException {
        return http.send(request(plane, method, path, key, body, name), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(ControlPlane plane, String method, String path, String key,
            String body,
            String name) {
        var request = HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                .header("Authorization", key)
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        return (name.isEmpty() ? request : request.header("Idempotency-Key", name)).build();
    }
}
