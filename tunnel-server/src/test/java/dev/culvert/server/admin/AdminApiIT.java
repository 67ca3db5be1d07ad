package dev.culvert.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.server.AdminServer;
import dev.culvert.server.AdminServer.Answer;
import dev.culvert.server.OpenApiTest;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.store.StoreLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class AdminApiIT {
    private static final String RUNTIMES = "/api/v1/runtimes";
    private static final String PROD = """
            {"account":"acme","name":"prod","hosts":["Git.Example.com"]}""";

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
        assertThat(server.answered).allSatisfy(AdminApiIT::assertDescribed);
    }

    @Test
    void createdRuntimeIsAnsweredWithItsTokenOnce() {
        Answer answer = server.call("POST", RUNTIMES, PROD);

        assertThat(answer.status()).isEqualTo(201);
        JsonNode made = answer.json();
        assertThat(made.properties()).extracting(Map.Entry::getKey)
                .containsExactly("account", "name",
                        "host", "hosts", "enrolmentToken", "enrolmentExpiresAt");
        assertThat(made.path("host").asText()).isEqualTo("acme-prod.t.example");
        assertThat(made.path("hosts").path(0).asText()).isEqualTo("git.example.com");
        assertThat(Instant.parse(made.path("enrolmentExpiresAt").asText()))
                .isBetween(Instant.now().plus(Duration.ofMinutes(59)),
                        Instant.now().plus(Duration.ofMinutes(61)));
        assertThat(server.call("GET", RUNTIMES + "/acme/prod", null).response().body())
                .doesNotContain(made.path("enrolmentToken").asText());
    }

    @Test
    void runtimesAreListedWithTheirTunnels() {
        create("acme", "prod");
        create("acme", "dev");
        connect("s-1", "acme", "prod", 0.25);

        JsonNode list = server.call("GET", RUNTIMES, null).json();

        assertThat(list.path("next").isNull()).isTrue();
        assertThat(list.path("items")).hasSize(2);
        assertThat(list.path("items").path(0).toString()).isEqualTo("""
                {"account":"acme","name":"dev","host":"acme-dev.t.example","hosts":[],"state":"disconnected",\
                "tunnels":[],"waiting":[]}""");
        assertThat(list.path("items").path(1).toString()).isEqualTo("""
                {"account":"acme","name":"prod","host":"acme-prod.t.example","hosts":[],"state":"connected",\
                "tunnels":[{"id":"s-1","generation":3,"state":"open","since":"2026-01-02T03:04:05Z",\
                "rttSeconds":0.25,"streams":2,"remote":"127.0.0.1:4711","version":"0.1.0"}],"waiting":[]}""");
        assertThat(server.call("GET", RUNTIMES + "/acme/prod", null).json())
                .isEqualTo(list.path("items").path(1));
    }

    @Test
    void liveTunnelsAreListedWithTheirRuntime() {
        create("acme", "prod");
        connect("s-1", "acme", "prod", Double.NaN);

        JsonNode tunnel = server.call("GET", "/api/v1/tunnels", null).json().path("items").path(0);

        assertThat(tunnel.path("account").asText()).isEqualTo("acme");
        assertThat(tunnel.path("name").asText()).isEqualTo("prod");
        assertThat(tunnel.path("rttSeconds").isNull()).isTrue();
    }

    @Test
    void tunnelIsClosedByItsId() {
        create("acme", "prod");
        connect("s-1", "acme", "prod", 0.1);

        assertThat(server.call("DELETE", "/api/v1/tunnels/s-1", null).status()).isEqualTo(204);
        assertThat(server.tunnels.open).isEmpty();
        assertProblem(server.call("DELETE", "/api/v1/tunnels/s-1", null), 404, "not-found", "tunnel");
    }

    @Test
    void tunnelIsDrainedByItsId() {
        create("acme", "prod");
        connect("s-1", "acme", "prod", 0.1);

        assertThat(server.call("POST", "/api/v1/tunnels/s-1/drain", null).status()).isEqualTo(202);
        assertProblem(server.call("POST", "/api/v1/tunnels/s-2/drain", null), 404, "not-found", "tunnel");
    }

    @Test
    void revokedRuntimeIsDisconnectedAndKeepsItsName() {
        create("acme", "prod");
        connect("s-1", "acme", "prod", 0.1);

        Answer answer = server.call("POST", RUNTIMES + "/acme/prod/revoke", null);

        assertThat(answer.status()).isEqualTo(204);
        assertThat(server.tunnels.closedReasons).containsExactly(
                "the certificates of acme/prod were revoked; enrol with a new token");
        assertThat(server.call("GET", RUNTIMES + "/acme/prod", null).status()).isEqualTo(200);
        assertProblem(server.call("POST", RUNTIMES + "/acme/other/revoke", null), 404, "not-found",
                "acme/other");
    }

    @Test
    void deletedRuntimeIsDisconnectedAndGone() {
        create("acme", "prod");
        connect("s-1", "acme", "prod", 0.1);

        Answer answer = server.call("DELETE", RUNTIMES + "/acme/prod", null);

        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.response().body()).isEmpty();
        assertThat(server.tunnels.closedReasons).containsExactly("the runtime acme/prod was deleted");
        assertThat(server.store.byHost("acme-prod.t.example")).isNull();
        assertProblem(server.call("GET", RUNTIMES + "/acme/prod", null), 404, "not-found", "acme/prod");
        assertProblem(server.call("DELETE", RUNTIMES + "/acme/prod", null), 404, "not-found", "acme/prod");
    }

    @Test
    void anotherTokenMayHaveALifeOfItsOwn() {
        create("acme", "prod");

        Answer plain = server.call("POST", RUNTIMES + "/acme/prod/enrolment-tokens", null);
        Answer longer = server.call("POST", RUNTIMES + "/acme/prod/enrolment-tokens", "{\"ttl\":\"2h\"}");

        assertThat(plain.status()).isEqualTo(201);
        assertThat(expiry(plain)).isBefore(Instant.now().plus(Duration.ofMinutes(61)));
        assertThat(expiry(longer)).isAfter(Instant.now().plus(Duration.ofMinutes(119)));
        assertProblem(server.call("POST", RUNTIMES + "/acme/none/enrolment-tokens", null), 404, "not-found",
                "acme/none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1x", "0s", "8d", "-1h", "", "999999999999h"})
    void lifeOfATokenOutsideItsRangeIsRefused(String ttl) {
        create("acme", "prod");

        assertProblem(
                server.call("POST", RUNTIMES + "/acme/prod/enrolment-tokens", "{\"ttl\":\"" + ttl + "\"}"),
                400, "bad-request", "ttl");
    }

    @Test
    void hostThatIsTakenIsAConflict() {
        assertThat(server.call("POST", RUNTIMES, "{\"account\":\"a-b\",\"name\":\"c\"}").status())
                .isEqualTo(201);

        assertProblem(server.call("POST", RUNTIMES, "{\"account\":\"a\",\"name\":\"b-c\"}"), 409, "conflict",
                "a-b-c.t.example");
        assertProblem(
                server.call("POST", RUNTIMES,
                        "{\"account\":\"x\",\"name\":\"y\",\"hosts\":[\"A-B-C.T.example\"]}"),
                409, "conflict", "a-b-c.t.example");
        assertProblem(
                server.call("POST", RUNTIMES, "{\"account\":\"x\",\"name\":\"y\",\"hosts\":[\"t.example\"]}"),
                409,
                "conflict", "t.example");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"{\"name\":\"p\"} | account",
            "{\"account\":\"A\",\"name\":\"p\"} | account",
            "{\"account\":\"a\",\"name\":\"p.q\"} | name", "{\"account\":\"a\",\"name\":7} | name",
            "{\"account\":\"a\",\"name\":\"p\",\"hosts\":\"h\"} | hosts",
            "{\"account\":\"a\",\"name\":\"p\",\"hosts\":[1]} | hosts",
            "{\"account\":\"a\",\"name\":\"p\",\"hosts\":[\"h:1\"]} | hosts",
            "{\"account\":\"a\",\"name\":\"p\",\"color\":\"red\"} | color",
            "{\"account\":\"a\",\"account\":\"b\",\"name\":\"p\"} | JSON", "[] | object", "{ | JSON",
            "{} {} | JSON"})
    void bodyThatIsWrongIsRefusedByField(String body, String field) {
        assertProblem(server.call("POST", RUNTIMES, body), 400, "bad-request", field);
        assertThat(server.store.runtimes()).isEmpty();
    }

    @Test
    void bodyOfNothingIsRefused() {
        assertProblem(server.call("POST", RUNTIMES, null), 400, "bad-request", "JSON");
    }

    @Test
    void bodyAboveTheLimitIsRefused() {
        String body = "{\"account\":\"" + "a".repeat(AdminApi.MAX_BODY_BYTES) + "\"}";

        assertProblem(server.call("POST", RUNTIMES, body), 413, "body-too-large", "65536");
    }

    @Test
    void moreCustomHostsThanTheLimitAreRefused() {
        String hosts = "\"h0.example\"";
        for (int i = 1; i <= StoreLimits.defaults().maxHosts(); i++) {
            hosts += ",\"h" + i + ".example\"";
        }

        assertProblem(
                server.call("POST", RUNTIMES, "{\"account\":\"a\",\"name\":\"p\",\"hosts\":[" + hosts + "]}"),
                400, "bad-request", "hosts");
    }

    @Test
    void callWithoutTheTokenIsRefused() {
        for (String authorization : new String[]{"Bearer wrong", "Bearer ", "Bearer",
                "Basic " + server.token(),
                server.token(), "Bearer " + server.token() + "x"}) {
            assertUnauthorized(server.call("GET", RUNTIMES, null, authorization));
        }
        assertUnauthorized(server.call("GET", RUNTIMES, null, null));
        assertUnauthorized(server.call("GET", "/api/v1/no-such-thing", null, null));
        assertThat(server.call("GET", RUNTIMES, null, "bearer " + server.token()).status()).isEqualTo(200);
    }

    @Test
    void changedTokenFileCountsAtOnce() throws Exception {
        String old = server.token();
        Files.writeString(server.tokenFile, "another-token-of-the-operator\n");

        assertUnauthorized(server.call("GET", RUNTIMES, null, "Bearer " + old));
        assertThat(server.call("GET", RUNTIMES, null, "Bearer another-token-of-the-operator").status())
                .isEqualTo(200);

        Files.delete(server.tokenFile);
        assertUnauthorized(server.call("GET", RUNTIMES, null, "Bearer another-token-of-the-operator"));
    }

    @Test
    void tokenFileIsMadeForItsOwnerAlone() throws Exception {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(server.tokenFile)))
                .isEqualTo("rw-------");
        assertThat(server.token()).hasSize(43);
    }

    @Test
    void otherMethodIsAnsweredWithTheAllowedOnes() {
        Answer answer = server.call("PUT", RUNTIMES + "/acme/prod", "{}");

        assertProblem(answer, 405, "method-not-allowed", "GET");
        assertThat(answer.header("allow")).isEqualTo("GET, PATCH, DELETE");
        assertThat(server.call("POST", "/openapi.yaml", null, null).status()).isEqualTo(405);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/api/v1/runtimes/", "/api/v1/runtimes/a", "/api/v1/runtimes/a/b/c",
            "/api/v2/runtimes",
            "/api/v1/runtimes/A/b", "/api/v1/runtimes/%61/b", "/api/nothing"})
    void unknownPathIsNotFound(String path) {
        assertThat(server.call("GET", path, null).status()).isIn(400, 404);
    }

    @Test
    void headIsAnsweredLikeGetWithoutBody() {
        Answer answer = server.call("HEAD", RUNTIMES, null);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.response().body()).isEmpty();
    }

    @Test
    void healthAndMetricsNeedNoToken() {
        for (String path : new String[]{"/healthz", "/readyz", "/metrics"}) {
            assertThat(server.call("GET", path, null, null).status()).isEqualTo(200);
        }
    }

    @Test
    void changesAreAuditedWithoutSecrets() {
        var lines = new ListAppender<ILoggingEvent>();
        var logger = (Logger) LoggerFactory.getLogger("audit");
        logger.setLevel(Level.INFO);
        lines.start();
        logger.addAppender(lines);

        String secret = server.call("POST", RUNTIMES, PROD).json().path("enrolmentToken").asText();
        server.call("DELETE", RUNTIMES + "/acme/prod", null);
        server.call("DELETE", RUNTIMES + "/acme/prod", null);
        logger.detachAppender(lines);

        assertThat(lines.list).extracting(ILoggingEvent::getMessage)
                .containsExactly("runtime created",
                        "runtime deleted");
        assertThat(lines.list).allSatisfy(line -> assertThat(line.getKeyValuePairs().toString())
                .contains("user=\"admin\"", "object=\"acme/prod\"", "time=", "decision=\"allowed\"")
                .doesNotContain(secret, server.token()));
    }

    @Test
    void refusedCallsAreAuditedAndStrangersFillNothing() {
        String reader = server.call("POST", "/api/v1/admin-tokens", "{\"name\":\"looker\",\"role\":\"read\"}")
                .json()
                .path("token")
                .asText();
        var lines = new ListAppender<ILoggingEvent>();
        var logger = (Logger) LoggerFactory.getLogger("audit");
        logger.setLevel(Level.INFO);
        lines.start();
        logger.addAppender(lines);

        for (int i = 0; i < 50; i++) {
            assertThat(server.call("GET", RUNTIMES, null, "Bearer wrong").status()).isEqualTo(401);
        }
        assertThat(server.call("GET", "/api/v1/admin-tokens", null, "Bearer " + reader).status())
                .isEqualTo(403);
        logger.detachAppender(lines);

        assertThat(lines.list).anySatisfy(line -> assertThat(line.getKeyValuePairs().toString())
                .contains("action=\"GET\"", "object=\"/api/v1/runtimes\"", "decision=\"denied\"", "address=")
                .doesNotContain("wrong"));
        assertThat(lines.list).anySatisfy(line -> assertThat(line.getKeyValuePairs().toString())
                .contains("user=\"looker\"", "object=\"/api/v1/admin-tokens\"", "decision=\"denied\""));
        assertThat(lines.list).hasSizeLessThan(10);
    }

    private void create(String account, String name) {
        assertThat(
                server.call("POST", RUNTIMES, "{\"account\":\"" + account + "\",\"name\":\"" + name + "\"}")
                        .status())
                .isEqualTo(201);
    }

    private void connect(String id, String account, String name, double rttSeconds) {
        RegisteredRuntime runtime = Objects
                .requireNonNull(server.store.byName(new RuntimeName(account, name)));
        server.tunnels.open
                .add(new SessionView(id, runtime.id(), 3, "open", Instant.parse("2026-01-02T03:04:05Z"),
                        rttSeconds, 2, "127.0.0.1:4711", "0.1.0"));
    }

    private static Instant expiry(Answer answer) {
        return Instant.parse(answer.json().path("enrolmentExpiresAt").asText());
    }

    private static void assertDescribed(String answered) {
        List<String> parts = List.of(answered.split(" ", -1));
        JsonNode operation = OpenApiTest.document()
                .path("paths")
                .path(parts.get(1))
                .path(parts.get(0).toLowerCase(Locale.ROOT));
        assertThat(operation.path("responses").has(parts.get(2))).as(answered).isTrue();
    }

    private static void assertUnauthorized(Answer answer) {
        assertProblem(answer, 401, "unauthorized", "admin.tokenFile");
        assertThat(answer.header("www-authenticate")).startsWith("Bearer");
    }

    private static void assertProblem(Answer answer, int status, String cause, String detail) {
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.header("content-type")).isEqualTo("application/problem+json");
        assertThat(answer.json().path("type").asText()).isEqualTo("urn:culvert:problem:" + cause);
        assertThat(answer.json().path("detail").asText()).contains(detail);
        assertThat(answer.json().path("hop").asText()).isEqualTo("edge");
    }
}
