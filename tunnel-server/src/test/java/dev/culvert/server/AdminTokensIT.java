package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.admin.AdminRole;
import dev.culvert.server.AdminServer.Answer;
import dev.culvert.server.token.AdminTokenStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminTokensIT {
    private static final String TOKENS = "/api/v1/admin-tokens";

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

    @ParameterizedTest
    @CsvSource({"GET,/api/v1/runtimes,read", "GET,/api/v1/runtimes/acme/prod,read",
            "GET,/api/v1/tunnels,read",
            "GET,/api/v1/audit,read", "POST,/api/v1/runtimes/acme/prod/enrolment-tokens,admin",
            "PUT,/api/v1/limits,admin",
            "PUT,/api/v1/runtimes/acme/prod/limits,operate",
            "POST,/api/v1/tunnels/s-1/drain,operate", "POST,/api/v1/webhooks/replay,operate",
            "POST,/api/v1/webhooks/purge,operate", "DELETE,/api/v1/tunnels/s-1,operate",
            "POST,/api/v1/runtimes,admin", "PATCH,/api/v1/runtimes/acme/prod,admin",
            "DELETE,/api/v1/runtimes/acme/prod,admin", "POST,/api/v1/runtimes/acme/prod/revoke,admin",
            "GET,/api/v1/admin-tokens,admin", "POST,/api/v1/admin-tokens,admin",
            "DELETE,/api/v1/admin-tokens/x,admin", "POST,/api/v1/admin-tokens/x/rotate,admin"})
    void eachCallNeedsItsRole(String method, String path, String needed) {
        for (String role : new String[]{"read", "operate", "admin"}) {
            String token = create("a-" + role, role);

            Answer answer = server.call(method, path, method.equals("GET") ? null : "{}", "Bearer " + token);

            boolean enough = role(role).covers(role(needed));
            assertThat(answer.status() == 403).as(role).isEqualTo(!enough);
            assertThat(answer.status()).isNotEqualTo(401);
            if (!enough) {
                assertThat(answer.json().path("type").asText()).isEqualTo("urn:culvert:problem:not-allowed");
                assertThat(answer.json().path("hop").asText()).isEqualTo("edge");
                assertThat(answer.json().path("detail").asText()).contains("role " + needed,
                        "a-" + role + " has " + role);
            }
        }
    }

    @Test
    void everyRouteThatChangesSomethingNeedsMoreThanRead() {
        assertThat(server.api.routes()).filteredOn(route -> route.template().toString().startsWith("/api/"))
                .allSatisfy(route -> assertThat(route.role() == AdminRole.READ)
                        .isEqualTo(route.method().name().equals("GET")
                                && !route.template().toString().contains("admin-tokens")));
    }

    @Test
    void aTokenIsShownOnceAndOnlyItsHashIsKept() throws IOException {
        String token = create("dashboard", "read");
        server.close();

        String stored = Files.readString(folder.resolve("data").resolve("culvert.db"),
                StandardCharsets.ISO_8859_1);
        assertThat(stored).contains("dashboard").doesNotContain(token.substring(token.indexOf('.') + 1));
        server = new AdminServer(folder);
        JsonNode list = server.call("GET", TOKENS, null).json();
        assertThat(list.path("items")).hasSize(1);
        assertThat(list.toString()).contains("\"name\":\"dashboard\",\"role\":\"read\"")
                .doesNotContain(token);
        assertThat(status(token)).isEqualTo(200);
    }

    @Test
    void aRotatedTokenIsWorthlessAtOnce() {
        String token = create("robot", "admin");

        String next = server.call("POST", TOKENS + "/robot/rotate", null).json().path("token").asText();

        assertThat(status(token)).isEqualTo(401);
        assertThat(status(next)).isEqualTo(200);
    }

    @Test
    void aRotationMayKeepTheSecretBeforeForAWhile() {
        String first = create("robot", "admin");

        JsonNode rotated = server.call("POST", TOKENS + "/robot/rotate", "{\"keep\":\"1h\"}").json();

        assertThat(Instant.parse(rotated.path("earlierUntil").asText())).isAfter(Instant.now());
        assertThat(status(first)).isEqualTo(200);
        String third = server.call("POST", TOKENS + "/robot/rotate", "{\"keep\":\"1h\"}")
                .json()
                .path("token")
                .asText();
        assertThat(status(first)).isEqualTo(401);
        assertThat(status(rotated.path("token").asText())).isEqualTo(200);
        assertThat(status(third)).isEqualTo(200);
    }

    @Test
    void aDeletedTokenIsWorthlessAtOnce() {
        String token = create("robot", "read");

        assertThat(server.call("DELETE", TOKENS + "/robot", null).status()).isEqualTo(204);

        assertThat(status(token)).isEqualTo(401);
        assertThat(server.call("DELETE", TOKENS + "/robot", null).status()).isEqualTo(404);
        assertThat(server.call("POST", TOKENS + "/robot/rotate", null).status()).isEqualTo(404);
    }

    @Test
    void aTokenOfAnotherNameOrAlteredIsRefused() {
        String token = create("robot", "read");
        create("other", "admin");

        assertThat(status(token.replace("robot", "other"))).isEqualTo(401);
        assertThat(status(token + "x")).isEqualTo(401);
        assertThat(status("culvert_robot.")).isEqualTo(401);
        assertThat(status("culvert_admin." + server.token())).isEqualTo(401);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"name\":\"admin\",\"role\":\"read\"}", "{\"name\":\"A\",\"role\":\"read\"}",
            "{\"name\":\"a.b\",\"role\":\"read\"}", "{\"name\":\"a\",\"role\":\"root\"}", "{\"name\":\"a\"}",
            "{\"name\":\"a\",\"role\":\"read\",\"x\":1}"})
    void aUselessNameOrRoleIsRefused(String body) {
        assertThat(server.call("POST", TOKENS, body).status()).isEqualTo(400);
    }

    @Test
    void moreTokensThanTheLimitAreRefused() {
        for (int i = 0; i < AdminTokenStore.MAX_TOKENS; i++) {
            create("t" + i, "read");
        }

        Answer more = server.call("POST", TOKENS, "{\"name\":\"more\",\"role\":\"read\"}");

        assertThat(more.status()).isEqualTo(409);
        assertThat(server.call("POST", TOKENS, "{\"name\":\"t1\",\"role\":\"admin\"}").status())
                .isEqualTo(409);
    }

    private static AdminRole role(String word) {
        return Objects.requireNonNull(AdminRole.of(word));
    }

    private int status(String token) {
        return server.call("GET", "/api/v1/runtimes", null, "Bearer " + token).status();
    }

    private String create(String name, String role) {
        Answer made = server.call("POST", TOKENS, "{\"name\":\"" + name + "\",\"role\":\"" + role + "\"}");
        assertThat(made.status()).isEqualTo(201);
        return made.json().path("token").asText();
    }
}
