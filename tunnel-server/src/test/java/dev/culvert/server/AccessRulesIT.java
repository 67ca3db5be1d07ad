package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.Pem;
import dev.culvert.server.AdminServer.Answer;
import dev.culvert.server.access.AccessFields;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.RuntimeName;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Clock;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Access rules through the admin API. */
class AccessRulesIT {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final String ACCESS = "/api/v1/runtimes/acme/prod/access";
    private static final String JWT = "{\"jwks\":\"https://i.example/k\",\"issuer\":\"i\",\"audiences\":[\"a\"]}";

    @TempDir
    Path folder;
    private AdminServer server;

    @BeforeEach
    void start() {
        server = new AdminServer(folder);
        server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private AccessRules prod() {
        return Objects.requireNonNull(server.store.byName(PROD)).access();
    }

    private static String ca() {
        return Pem.text(CertificateAuthority.create("Callers", Clock.systemUTC()).certificate())
                .replace("\n", "\\n");
    }

    @Test
    void rulesHoldAtOnceSurviveARestartAndMayBeSentBack() {
        String rules = "{\"addresses\":[\"10.0.0.0/8\"],\"rules\":[{\"path\":\"/\",\"require\":\"jwt\",\"jwt\":"
                + JWT
                + "},{\"path\":\"/hooks/\",\"require\":\"none\",\"addresses\":[\"fd00::/8\"]},"
                + "{\"path\":\"/ui/\",\"require\":\"forwardAuth\",\"forwardAuth\":{\"url\":\"https://auth.example:4180/v\",\"responseFields\":[\"X-User\"]}},"
                + "{\"path\":\"/mine/\",\"require\":\"clientCertificate\",\"clientCertificate\":{\"ca\":\""
                + ca()
                + "\"}},{\"path\":\"/off/\",\"require\":\"deny\"}]}";

        Answer changed = server.call("PUT", ACCESS, rules);

        assertThat(changed.status()).as(changed.response().body()).isEqualTo(200);
        assertThat(changed.json().path("withoutRules").asText()).isEqualTo("open");
        assertThat(changed.json().at("/own/rules/0/jwt").toString()).isEqualTo(
                "{\"jwks\":\"https://i.example/k\",\"issuer\":\"i\",\"audiences\":[\"a\"],\"algorithms\":[\"RS256\",\"ES256\",\"EdDSA\"],\"leeway\":\"30000ms\",\"claims\":{}}");
        assertThat(changed.json().at("/own/rules/2/forwardAuth").toString()).isEqualTo(
                "{\"url\":\"https://auth.example:4180/v\",\"timeout\":\"5000ms\",\"requestFields\":[\"authorization\",\"cookie\"],\"responseFields\":[\"x-user\"]}");
        AccessRules given = prod();
        assertThat(given.asksForCertificates()).isTrue();
        assertThat(server.store.asksForCertificates()).isTrue();
        server.close();
        server = new AdminServer(folder);
        assertThat(prod()).isEqualTo(given);
        assertThat(server.store.asksForCertificates()).isTrue();
        assertThat(server.call("PUT", ACCESS, changed.json().path("own").toString()).json())
                .isEqualTo(changed.json());
        assertThat(server.call("GET", ACCESS, null).json()).isEqualTo(changed.json());
    }

    @Test
    void theExampleOfTheDocumentIsTaken() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "access.md"));
        String example = page.substring(page.indexOf("```json") + 7);

        Answer changed = server.call("PUT", ACCESS, example.substring(0, example.indexOf("```"))
                .replace("-----BEGIN CERTIFICATE-----\\n…", ca()));

        assertThat(changed.status()).as(changed.response().body()).isEqualTo(200);
        assertThat(prod().rules()).hasSize(4);
    }

    @Test
    void storedRulesWithPlainHttpStillHold() {
        String rules = "{\"rules\":[{\"path\":\"/\",\"require\":\"forwardAuth\",\"forwardAuth\":{\"url\":\"http://a.example/\"}}]}";
        AccessRules stored = AccessFields.read(rules.getBytes(StandardCharsets.UTF_8));
        server.store.replaceAccess(PROD, stored).block();

        server.close();
        server = new AdminServer(folder);

        assertThat(prod()).isEqualTo(stored);
    }

    @Test
    void anEmptyObjectTakesAllAway() {
        server.call("PUT", ACCESS, "{\"rules\":[{\"path\":\"/\",\"require\":\"deny\"}]}");

        assertThat(server.call("PUT", ACCESS, "{}").status()).isEqualTo(200);

        assertThat(prod()).isEqualTo(AccessRules.NONE);
    }

    @Test
    void changesAreNotedWithoutTheirDetails() {
        server.call("PUT", ACCESS,
                "{\"addresses\":[\"10.0.0.0/8\"],\"rules\":[{\"path\":\"/\",\"require\":\"jwt\",\"jwt\":"
                        + JWT + "}]}");

        assertThat(server.call("GET", "/api/v1/audit", null).response().body()).contains(
                "\"action\":\"runtime access changed\",\"entity\":\"server\",\"object\":\"acme/prod: /=jwt from 10.0.0.0/8\"");
    }

    @Test
    void onlyTheRoleAdminOpensWhatWasClosed() {
        String operate = "Bearer " + server.call("POST", "/api/v1/admin-tokens",
                "{\"name\":\"operator\",\"role\":\"operate\"}").json().path("token").asText();

        assertThat(server.call("GET", ACCESS, null, operate).status()).isEqualTo(200);
        assertThat(server.call("PUT", ACCESS, "{}", operate).status()).isEqualTo(403);
    }

    @Test
    void rulesOfANewerVersionCloseTheRuntime() throws Exception {
        server.call("PUT", ACCESS, "{\"rules\":[{\"path\":\"/\",\"require\":\"none\"}]}");
        server.close();
        try (Connection database = DriverManager
                .getConnection("jdbc:sqlite:" + folder.resolve("data").resolve("culvert.db"));
                var statement = database.createStatement()) {
            statement.execute(
                    "UPDATE runtime_access SET rules = '{\"rules\":[{\"path\":\"/\",\"require\":\"dna\"}]}'");
        }

        server = new AdminServer(folder);

        assertThat(prod()).isEqualTo(AccessRules.CLOSED);
    }

    @Test
    void rulesAndAddressesAreBounded() {
        String rules = IntStream.range(0, AccessRules.MAX_RULES + 1)
                .mapToObj(i -> "{\"path\":\"/" + i + "\",\"require\":\"none\"}")
                .collect(Collectors.joining(","));
        String blocks = IntStream.range(0, AccessRules.MAX_ADDRESSES + 1)
                .mapToObj(i -> "\"10.0.0.1\"")
                .collect(Collectors.joining(","));

        assertThat(refusal("{\"rules\":[" + rules + "]}"))
                .startsWith("rules: 65 of them (expected: at most 64)");
        assertThat(refusal("{\"addresses\":[" + blocks + "]}"))
                .startsWith("addresses: 257 of them (expected: at most 256)");
    }

    private String refusal(String body) {
        Answer refused = server.call("PUT", ACCESS, body);
        assertThat(refused.status()).as(body).isEqualTo(400);
        return refused.json().path("detail").asText();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
            "{'path':'admin','require':'none'}   | rules[0].path: admin (expected: a path as /admin/",
            "{'path':'/%61','require':'none'}    | rules[0].path: /%61 (expected: a path",
            "{'path':'/a/../b','require':'none'} | rules[0].path: /a/../b (expected",
            "{'require':'none'}                  | rules[0].path: missing",
            "{'path':'/'}                        | rules[0].require: missing",
            "{'path':'/','require':'dna'}        | rules[0].require: dna (expected: one of none, deny, jwt, forwardAuth, clientCertificate)",
            "{'path':'/','require':'none','more':1} | rules[0].more: unknown field (expected: [addresses",
            "{'path':'/','require':'jwt'}        | rules[0].jwt: missing (expected: an object with [algorithms",
            "{'path':'/','require':'none','jwt':{}} | rules[0].jwt: given (expected: only where require is jwt)",
            "{'path':'/','require':'none','addresses':['ten']} | rules[0].addresses: ten (expected: addresses or CIDR blocks",
            "{'path':'/','require':'jwt','jwt':{'jwks':'http://i.example/k','issuer':'i','audiences':['a']}} | rules[0].jwt.jwks: http://i.example/k (expected: an https URL",
            "{'path':'/','require':'jwt','jwt':{'jwks':'https://i.example/k','issuer':'i','audiences':[]}} | rules[0].jwt.audiences: 0 of them",
            "{'path':'/','require':'jwt','jwt':{'jwks':'https://i.example/k','issuer':'i','audiences':['a'],'algorithms':['HS256']}} | rules[0].jwt.algorithms: HS256 (expected: of RS256",
            "{'path':'/','require':'jwt','jwt':{'jwks':'https://i.example/k','issuer':'i','audiences':['a'],'algorithms':['none']}} | rules[0].jwt.algorithms: none",
            "{'path':'/','require':'jwt','jwt':{'jwks':'https://i.example/k','issuer':'i','audiences':['a'],'leeway':'6m'}} | rules[0].jwt.leeway: 6m (expected: 0ms..300s",
            "{'path':'/','require':'forwardAuth','forwardAuth':{'url':'ftp://a.example/'}} | rules[0].forwardAuth.url: ftp://a.example/ (expected: a URL",
            "{'path':'/','require':'forwardAuth','forwardAuth':{'url':'http://a.example/'}} | rules[0].forwardAuth.url: http://a.example/ (expected: an https URL, or an http URL of this machine)",
            "{'path':'/','require':'forwardAuth','forwardAuth':{'url':'http://u:p@a.example/'}} | rules[0].forwardAuth.url: http://***@a.example/",
            "{'path':'/','require':'forwardAuth','forwardAuth':{'url':'https://a.example/','timeout':'11s'}} | rules[0].forwardAuth.timeout: 11s (expected: 10ms..10s",
            "{'path':'/','require':'forwardAuth','forwardAuth':{'url':'https://a.example/','responseFields':['Host']}} | rules[0].forwardAuth.responseFields: Host (expected",
            "{'path':'/','require':'clientCertificate','clientCertificate':{'ca':'no'}} | rules[0].clientCertificate.ca:",
            "{'path':'/a','require':'none'},{'path':'/a/','require':'none'} | rules[1].path: /a/ (expected: another path",
            "1                                   | rules[0]: not an object"})
    void whatIsWrongIs400AndNamesKeyValueAndWhatIsAccepted(String rules, String detail) {
        assertThat(refusal("{\"rules\":[" + rules.replace('\'', '"') + "]}")).startsWith(detail);
        assertThat(prod()).isEqualTo(AccessRules.NONE);
    }
}
