package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.store.AuditStore;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AuditIT {
    private static final String AUDIT = "/api/v1/audit";

    @TempDir
    Path folder;
    private AdminServer server;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void changesAreKeptWithWhoMadeThemAndSurviveARestart() {
        String token = server.call("POST", "/api/v1/admin-tokens", "{\"name\":\"robot\",\"role\":\"admin\"}")
                .json()
                .path("token")
                .asText();
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}",
                "Bearer " + token);
        server.close();
        server = new AdminServer(folder);

        JsonNode items = server.call("GET", AUDIT, null).json().path("items");

        assertThat(items).hasSize(2);
        assertThat(items.path(0).path("action").asText()).isEqualTo("runtime created");
        assertThat(items.path(0).path("user").asText()).isEqualTo("robot");
        assertThat(items.path(0).path("object").asText()).isEqualTo("acme/prod");
        assertThat(items.path(0).path("address").asText()).startsWith("127.0.0.1:");
        assertThat(Instant.parse(items.path(0).path("time").asText())).isBefore(Instant.now());
        assertThat(items.path(0).path("entity").asText()).isEqualTo("server");
        assertThat(items.path(0).path("decision").asText()).isEqualTo("allowed");
        assertThat(items.path(1).path("action").asText()).isEqualTo("admin token made");
        assertThat(items.path(1).path("user").asText()).isEqualTo("admin");
        assertThat(items.toString()).doesNotContain(token);
    }

    @Test
    void everyKindOfChangeLeavesOneEntry() {
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
        String runtime = "/api/v1/runtimes/acme/prod";
        server.call("POST", runtime + "/enrolment-tokens", null);
        server.call("PATCH", runtime, "{\"hosts\":[\"a.example\"]}");
        server.call("POST", runtime + "/revoke", null);
        server.tunnels.open
                .add(new SessionView("s-1", "id", 3, "open", Instant.now(), 0.1, 2, "127.0.0.1:1", "1"));
        server.call("POST", "/api/v1/tunnels/s-1/drain", null);
        server.call("DELETE", runtime, null);

        assertThat(whats(server.call("GET", AUDIT, null).json())).containsExactly("runtime deleted",
                "tunnel drained",
                "runtime revoked", "runtime hosts changed", "enrolment token made", "runtime created");
    }

    @Test
    void aChangeThatFailedLeavesNoEntry() {
        server.call("DELETE", "/api/v1/runtimes/acme/none", null);
        server.call("DELETE", "/api/v1/tunnels/none", null);
        server.call("POST", "/api/v1/admin-tokens/none/rotate", null);

        assertThat(server.call("GET", AUDIT, null).json().path("items")).isEmpty();
    }

    @Test
    void pagesFollowOneAnother() {
        for (int i = 0; i < 5; i++) {
            server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"r" + i + "\"}");
        }

        List<String> things = new ArrayList<>();
        JsonNode page = server.call("GET", AUDIT + "?limit=2", null).json();
        for (int pages = 1; page.path("next").isTextual(); pages++) {
            assertThat(pages).isLessThan(3);
            page.path("items").forEach(item -> things.add(item.path("object").asText()));
            page = server.call("GET", AUDIT + "?limit=2&next=" + page.path("next").asText(), null).json();
        }
        page.path("items").forEach(item -> things.add(item.path("object").asText()));

        assertThat(things).containsExactly("acme/r4", "acme/r3", "acme/r2", "acme/r1", "acme/r0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"limit=0", "limit=1001", "limit=x", "next=-1", "next=x", "limit="})
    void aUselessPageIsRefused(String query) {
        assertThat(server.call("GET", AUDIT + "?" + query, null).status()).isEqualTo(400);
    }

    @Test
    void moreEntriesThanTheLimitAndOlderOnesAreForgotten() throws SQLException {
        Instant old = Instant.now().minus(AuditStore.KEPT).minus(Duration.ofMinutes(1));
        fill(10, old);
        fill(AuditStore.MAX_ENTRIES, Instant.now());

        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");

        assertThat(count("SELECT count(*) FROM audit")).isEqualTo(AuditStore.MAX_ENTRIES);
        assertThat(count("SELECT count(*) FROM audit WHERE what = 'runtime created'")).isEqualTo(1);
    }

    @Test
    void expiredEntriesAreForgotten() throws SQLException {
        fill(10, Instant.now().minus(AuditStore.KEPT).minus(Duration.ofMinutes(1)));

        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");

        assertThat(count("SELECT count(*) FROM audit")).isEqualTo(1);
    }

    private static List<String> whats(JsonNode page) {
        List<String> whats = new ArrayList<>();
        page.path("items").forEach(item -> whats.add(item.path("action").asText()));
        return whats;
    }

    private void fill(int entries, Instant when) throws SQLException {
        try (var connection = DriverManager.getConnection(url());
                var statement = connection.createStatement()) {
            statement.execute(
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + entries
                            + ") INSERT INTO audit (at, who, remote, request_id, what, thing) SELECT "
                            + when.toEpochMilli()
                            + ", 'w', 'r', 'q', 'filled', 't' FROM n");
        }
    }

    private long count(String sql) throws SQLException {
        try (var connection = DriverManager.getConnection(url());
                var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            return row.next() ? row.getLong(1) : -1;
        }
    }

    private String url() {
        return "jdbc:sqlite:" + folder.resolve("data").resolve("culvert.db");
    }
}
