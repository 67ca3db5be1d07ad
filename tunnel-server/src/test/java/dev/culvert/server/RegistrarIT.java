package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.certs.Base64Url;
import dev.culvert.server.AdminServer.Answer;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistrarIT {
    private static final String RUNTIMES = "/api/v1/runtimes";
    private final String expires = Instant.now()
            .plus(1, ChronoUnit.HOURS)
            .truncatedTo(ChronoUnit.MILLIS)
            .toString();

    /** What a registrar may do with each call of the API. */
    private enum Row {
        NEVER, ITS_OWN
    }

    /** A call without a row fails the test, so that a new call gets one. */
    private static final Map<String, Row> ROWS = new TreeMap<>();

    static {
        for (String call : List.of("GET /api/v1/runtimes", "POST /api/v1/runtimes",
                "PATCH /api/v1/runtimes/{account}/{name}", "DELETE /api/v1/runtimes/{account}/{name}")) {
            ROWS.put(call, Row.ITS_OWN);
        }
        for (String call : List.of("DELETE /api/v1/admin-tokens/{name}", "DELETE /api/v1/tunnels/{id}",
                "DELETE /api/v1/webhooks", "DELETE /api/v1/webhooks/{id}", "GET /api/v1/admin-tokens",
                "GET /api/v1/audit", "GET /api/v1/events", "GET /api/v1/limits", "GET /api/v1/requests",
                "GET /api/v1/requests/{id}", "GET /api/v1/runtimes/{account}/{name}",
                "GET /api/v1/runtimes/{account}/{name}/access",
                "GET /api/v1/runtimes/{account}/{name}/limits", "GET /api/v1/runtimes/{account}/{name}/usage",
                "GET /api/v1/tunnels", "GET /api/v1/webhooks", "GET /api/v1/webhooks/{id}",
                "POST /api/v1/admin-tokens", "POST /api/v1/admin-tokens/{name}/rotate",
                "POST /api/v1/runtimes/{account}/{name}/enrolment-tokens",
                "POST /api/v1/runtimes/{account}/{name}/revoke",
                "POST /api/v1/runtimes/{account}/{name}/webhooks/pause",
                "POST /api/v1/runtimes/{account}/{name}/webhooks/resume", "POST /api/v1/tunnels/{id}/drain",
                "POST /api/v1/webhooks/purge", "POST /api/v1/webhooks/replay",
                "POST /api/v1/webhooks/{id}/replay", "PUT /api/v1/limits",
                "PUT /api/v1/runtimes/{account}/{name}/access",
                "PUT /api/v1/runtimes/{account}/{name}/limits")) {
            ROWS.put(call, Row.NEVER);
        }
    }

    @TempDir
    Path folder;
    private AdminServer server;
    private String registrar;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        registrar = token("plane", "registrar");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void eachCallOfTheApiHasARow() {
        Set<String> calls = new HashSet<>();
        OpenApiTest.document()
                .path("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(method -> calls
                                .add(method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey())));
        server.api.routes().forEach(route -> calls.add(route.method() + " " + route.template()));
        calls.removeIf(call -> !call.contains(" /api/") || call.startsWith("PARAMETERS"));

        assertThat(ROWS.keySet()).containsExactlyInAnyOrderElementsOf(calls);
    }

    @Test
    void aRegistrarMakesItsFourCallsOnly() {
        create(registrar, "own", "1");
        ROWS.forEach((call, row) -> {
            String[] parts = call.split(" ", 2);
            String path = parts[1].replace("{account}", "acme")
                    .replace("{name}", "own")
                    .replaceAll("\\{[a-z]+}", "x");

            Answer answer = server.call(parts[0], path, parts[0].equals("GET") ? null : "{}",
                    "Bearer " + registrar);

            assertThat(answer.status() == 403).as(call).isEqualTo(row == Row.NEVER);
            if (row == Row.NEVER) {
                assertThat(answer.json().path("detail").asText()).as(call)
                        .contains("plane has registrar");
            }
        });
    }

    @Test
    void aRegistrarSeesAndChangesItsOwnRuntimesOnly() {
        create(registrar, "own", "1");
        String other = token("other", "registrar");
        create(other, "theirs", "2");
        assertThat(server.call("POST", RUNTIMES, "{\"account\":\"acme\",\"name\":\"ours\"}").status())
                .isEqualTo(201);

        assertThat(names(registrar)).containsExactly("own");
        assertThat(names(other)).containsExactly("theirs");
        assertThat(names(server.token())).containsExactly("ours", "own", "theirs");
        for (String foreign : List.of("theirs", "ours", "absent")) {
            String path = RUNTIMES + "/acme/" + foreign;
            assertThat(call(registrar, "PATCH", path, "{\"hosts\":[]}").status()).as(foreign).isEqualTo(404);
            assertThat(call(registrar, "DELETE", path, null).status()).as(foreign).isEqualTo(404);
            assertThat(call(registrar, "DELETE", path + "?pending=delete", null).status()).as(foreign)
                    .isEqualTo(404);
        }
        assertThat(names(server.token())).containsExactly("ours", "own", "theirs");
        assertThat(call(registrar, "PATCH", RUNTIMES + "/acme/own", "{\"hosts\":[\"ci.acme.example\"]}")
                .json()
                .at("/hosts/0")
                .asText()).isEqualTo("ci.acme.example");
        assertThat(call(registrar, "PATCH", RUNTIMES + "/acme/own", "{\"upstream\":\"http://127.0.0.1:1\"}")
                .status()).isEqualTo(403);
        assertThat(call(registrar, "DELETE", RUNTIMES + "/acme/own", null).status()).isEqualTo(204);
        assertThat(names(registrar)).isEmpty();
    }

    @Test
    void theSameCreationHasTheSameResultAndAnotherOneConflicts() {
        JsonNode first = create(registrar, "own", "1").json();

        assertThat(create(registrar, "own", "1").json()).isEqualTo(first);
        assertThat(create(registrar, "own", "2").status()).isEqualTo(409);
        assertThat(create(token("other", "registrar"), "own", "1").status()).isEqualTo(409);
        assertThat(create(server.token(), "own", "1").status()).isEqualTo(409);
        assertThat(create(registrar, "second", "1").status()).as("another runtime's token").isEqualTo(409);
        server.close();
        server = new AdminServer(folder);
        assertThat(create(registrar, "own", "1").json()).isEqualTo(first);
        assertThat(names(registrar)).containsExactly("own");
    }

    @Test
    void aHostedRuntimeMayBeCreatedAgain() {
        String body = "{\"account\":\"acme\",\"name\":\"hosted\",\"upstream\":\"http://127.0.0.1:1\"}";

        Answer first = call(registrar, "POST", RUNTIMES, body);

        assertThat(first.status()).isEqualTo(201);
        assertThat(call(registrar, "POST", RUNTIMES, body).json()).isEqualTo(first.json());
        assertThat(call(registrar, "POST", RUNTIMES, body.replace(":1\"", ":2\"")).status()).isEqualTo(409);
    }

    @Test
    void badCredentialsAreRefused() {
        assertThat(call(registrar, "POST", RUNTIMES, "{\"account\":\"acme\",\"name\":\"own\"}").json()
                .path("detail")
                .asText()).contains("enrolment: missing");
        String good = body("own", "1");
        for (String bad : List.of(good.replace("\"hash\"", "\"secret\""),
                good.replace(id("1"), "short"), good.replace(expires, "tomorrow"),
                good.replace(expires, "2999-01-01T00:00:00Z"),
                good.replaceFirst("\\{", "{\"upstream\":\"http://127.0.0.1:1\","))) {
            assertThat(call(registrar, "POST", RUNTIMES, bad).status()).as(bad).isEqualTo(400);
        }
        assertThat(names(registrar)).isEmpty();
    }

    @Test
    void aDeletedRuntimeWhoseWebhooksWaitIsCutOffOnce() throws SQLException {
        create(registrar, "own", "1");
        RuntimeName name = new RuntimeName("acme", "own");
        RegisteredRuntime before = Objects.requireNonNull(server.store.byName(name));
        server.close();
        waiting(before.id());
        server = new AdminServer(folder);
        server.tunnels.open.add(new SessionView("session-1", before.id(), 1, "open", Instant.now(), 0.1, 0,
                "127.0.0.1:1", "test/1"));

        assertThat(call(server.token(), "DELETE", RUNTIMES + "/acme/own?pending=refuse", null).status())
                .isEqualTo(409);
        assertThat(server.tunnels.open).hasSize(1);
        assertThat(server.store.byName(name)).isEqualTo(before);
        assertThat(server.store.token(id("1"))).isNotNull();
        Answer refused = call(registrar, "DELETE", RUNTIMES + "/acme/own", null);

        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.json().path("detail").asText()).contains("1 pending webhooks");
        RegisteredRuntime after = Objects.requireNonNull(server.store.byName(name));
        assertThat(after.identity()).isNotEqualTo(before.identity());
        assertThat(server.store.token(id("1"))).isNull();
        assertThat(server.tunnels.open).isEmpty();
        assertThat(call(registrar, "DELETE", RUNTIMES + "/acme/own", null).status()).isEqualTo(409);
        assertThat(server.store.byName(name)).isEqualTo(after);
        assertThat(call(registrar, "DELETE", RUNTIMES + "/acme/own?pending=delete", null).status())
                .isEqualTo(204);
    }

    /** Stores a webhook of a runtime that waits, while no server runs. */
    private void waiting(String runtime) throws SQLException {
        try (Connection connection = DriverManager
                .getConnection("jdbc:sqlite:" + folder.resolve("inbox").resolve("inbox.db"));
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO webhooks (id, runtime, source, ordered, method, authority, target,"
                    + " size, cost, state, begun, failures, next, aside, outcome, stored, content) VALUES"
                    + " ('w1', '" + runtime + "', 'argo/push', 1, 'POST', 'a.test', '/', 0, 1, 0, 0, 0,"
                    + " 9000000000000, 0, '', " + System.currentTimeMillis() + ", 0)");
        }
    }

    @Test
    void aClockMayBeAMinuteAhead() {
        String latest = Instant.now().plus(Duration.ofDays(30)).plusSeconds(30).toString();

        assertThat(call(registrar, "POST", RUNTIMES, body("own", "1").replace(expires, latest)).status())
                .isEqualTo(201);
        assertThat(call(registrar, "POST", RUNTIMES, body("two", "2").replace(expires,
                Instant.now().plus(Duration.ofDays(30)).plusSeconds(300).toString())).status())
                .isEqualTo(400);
    }

    @Test
    void aListIsReadInPages() {
        for (int i = 0; i < 5; i++) {
            create(registrar, "r" + i, String.valueOf(i));
        }

        JsonNode first = call(registrar, "GET", RUNTIMES + "?limit=3", null).json();
        JsonNode rest = call(registrar, "GET", RUNTIMES + "?limit=3&next=" + first.path("next").asText(),
                null)
                .json();

        assertThat(first.path("items")).hasSize(3);
        assertThat(rest.at("/items/0/name").asText()).isEqualTo("r3");
        assertThat(rest.path("items")).hasSize(2);
        assertThat(rest.path("next").isNull()).isTrue();
        assertThat(call(registrar, "GET", RUNTIMES + "?limit=0", null).status()).isEqualTo(400);
        assertThat(call(registrar, "GET", RUNTIMES + "?next=x", null).status()).isEqualTo(400);
    }

    private Answer create(String token, String name, String seed) {
        return call(token, "POST", RUNTIMES, body(name, seed));
    }

    private String body(String name, String seed) {
        return "{\"account\":\"acme\",\"name\":\"" + name + "\",\"hosts\":[],\"enrolment\":{\"id\":\""
                + id(seed)
                + "\",\"hash\":\""
                + Base64Url.encode(seed.repeat(32).getBytes(java.nio.charset.StandardCharsets.US_ASCII))
                + "\",\"expiresAt\":\""
                + expires + "\"}}";
    }

    private static String id(String seed) {
        return Base64Url.encode(seed.repeat(16).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    private List<String> names(String token) {
        return StreamSupport
                .stream(call(token, "GET", RUNTIMES, null).json().path("items").spliterator(), false)
                .map(item -> item.path("name").asText())
                .toList();
    }

    private Answer call(String token, String method, String path, @Nullable String body) {
        return server.call(method, path, body, "Bearer " + token);
    }

    private String token(String name, String role) {
        return server
                .call("POST", "/api/v1/admin-tokens", "{\"name\":\"" + name + "\",\"role\":\"" + role + "\"}")
                .json()
                .path("token")
                .asText();
    }
}
