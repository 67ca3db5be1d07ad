package dev.culvert.platform.runtimes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.platform.directory.testing.Plane;
import dev.culvert.platform.directory.testing.Plane.Answer;
import dev.culvert.store.Database.Engine;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The API, on both engines. */
@ParameterizedClass
@EnumSource
class RuntimesIT {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;
    private final StubServer server = new StubServer();
    private final Engine engine;
    private Plane plane;
    private String admin;
    private String account;

    RuntimesIT(Engine engine) {
        this.engine = engine;
    }

    @BeforeEach
    void start() {
        plane = Planes.start(folder, server, Plane.store(engine));
        admin = plane.admin;
        account = plane.account();
    }

    @AfterEach
    void stop() {
        plane.close();
        server.close();
    }

    @Test
    void aCreatedRuntimesTokenIsItsKeyAndItsEnrolmentToken() throws Exception {
        String token = plane.created(admin, "prod");

        EnrolmentToken enrolment = EnrolmentToken.parse(token);
        settled();
        JsonNode body = body("prod");
        assertThat(body.at("/enrolment/id").asText()).isEqualTo(enrolment.id());
        String hash = Base64Url.encode(enrolment.secretHash());
        assertThat(body.at("/enrolment/hash").asText()).isEqualTo(hash);
        assertThat(Instant.parse(body.at("/enrolment/expiresAt").asText())).isAfter(Instant.now());
        assertThat(body.toString()).doesNotContain(token).doesNotContain(token.split("\\.", -1)[2]);
        assertThat(plane.call("GET", "/api/changes", token, "").status()).isEqualTo(200);
        assertThat(plane.call("GET", "/api/me", token, "").status()).isEqualTo(403);
        assertThat(plane.call("GET", "/api/changes", token + "x", "").status()).isEqualTo(401);
        assertThat(plane.call("GET", "/api/changes", hash, "").status()).isEqualTo(401);
        if (engine == Engine.SQLITE) {
            plane.stop();
            assertThat(Files.readString(plane.database(), StandardCharsets.ISO_8859_1))
                    .doesNotContain(token.split("\\.", -1)[2]);
            plane.restart();
        }
    }

    @Test
    void namesAndClustersAreUniqueInAnAccount() {
        plane.create(admin, Map.of("runtimeName", "prod", "clusterUid", "u-1"));

        assertThat(plane.create(admin, Map.of("runtimeName", "prod")).graphQl()).isEqualTo(409);
        Answer other = plane.create(admin, Map.of("runtimeName", "test", "clusterUid", "u-1"));
        assertThat(other.graphQl()).isEqualTo(409);
        assertThat(other.error()).contains("prod");
        assertThat(plane.create(plane.otherAccount("b"), Map.of("runtimeName", "prod", "clusterUid", "u-1"))
                .graphQl()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Prod", "-a", "a-", "a.b", "a_b", "a/b",
            "a123456789012345678901234567890123456789"})
    void aNameThatIsNoLabelIsRefused(String name) {
        assertThat(plane.create(admin, Map.of("runtimeName", name)).graphQl()).isEqualTo(400);
        assertThat(plane.call("POST", "/api/argo-runtime", admin, "{\"name\":\"" + name + "\"}").status())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource({"0.0.542,true", "0.0.543,false", "0.1.0,false", "v0.0.99,true", "1.0.0,false"})
    void oldVersionsHaveLegacyRoutes(String version, boolean isLegacy) {
        plane.create(admin, Map.of("runtimeName", "prod", "runtimeVersion", version));

        assertThat(runtime("prod").path("legacyRoutes").asBoolean()).isEqualTo(isLegacy);
    }

    @Test
    void theTunnelIsTheDefaultAndAnIngressNeedsNoTunnelServer() {
        plane.created(admin, "tunnel");
        Answer ingress = plane.create(admin,
                Map.of("runtimeName", "ingress", "accessMode", "INGRESS", "ingressHost", "https://a.test"));

        settled();
        assertThat(server.runtimes).containsOnlyKeys(account + "/tunnel");
        assertThat(runtime("tunnel").path("accessMode").asText()).isEqualTo("TUNNEL");
        assertThat(runtime("tunnel").path("ingressHost").asText())
                .isEqualTo("https://" + account + "-tunnel.tunnels.test");
        assertThat(runtime("ingress").path("ingressHost").asText()).isEqualTo("https://a.test");
        assertThat(runtime("ingress").path("tunnelServer").asText()).isEqualTo("none");
        String token = ingress.json().at("/data/createRuntime/newAccessToken").asText();
        assertThat(plane.call("GET", "/api/changes", token, "").status()).isEqualTo(200);
    }

    @Test
    void thereIsOneHostedRuntimeAndItIsDegraded() {
        assertThat(plane.create(admin, Map.of("runtimeName", "hosted", "managed", true)).graphQl())
                .isEqualTo(200);

        assertThat(plane.create(admin, Map.of("runtimeName", "more", "managed", true)).error())
                .contains("hosted");
        settled();
        assertThat(body("hosted").path("upstream").asText())
                .isEqualTo("http://127.0.0.1:1");
        assertThat(runtime("hosted").path("healthStatus").asText()).isEqualTo("DEGRADED");
        assertThat(plane.delete(admin, "hosted", false).graphQl()).isEqualTo(404);
        assertThat(plane.graphQl(admin, "mutation { deleteManagedRuntime(name: \"hosted\") }", Map.of())
                .graphQl()).isEqualTo(200);
        assertThat(plane.create(admin, Map.of("runtimeName", "more", "managed", true)).graphQl())
                .isEqualTo(200);
    }

    @Test
    void theFirstRuntimeIsTheConfigurationRuntimeUntilAnotherIsDesignated() {
        assertThat(implicit(admin)).isTrue();
        String first = plane.created(admin, "first");
        plane.created(admin, "second");

        assertThat(implicit(admin)).isFalse();
        assertThat(implicit(first)).isTrue();
        assertThat(runtime("first").path("isConfigurationRuntime").asBoolean()).isTrue();
        plane.graphQl(admin,
                "mutation { designateConfigurationRuntime(name: \"second\") { metadata { name } } }",
                Map.of());
        assertThat(runtime("second").path("isConfigurationRuntime").asBoolean()).isTrue();
        assertThat(runtime("first").path("isConfigurationRuntime").asBoolean()).isFalse();
        assertThat(implicit(first)).isFalse();
    }

    @Test
    void theOldestOtherOneFollowsTheConfigurationRuntime() {
        plane.create(admin, Map.of("runtimeName", "b-hosted", "managed", true));
        plane.created(admin, "c-first");
        plane.created(admin, "d-second");
        plane.graphQl(admin,
                "mutation { designateConfigurationRuntime(name: \"d-second\") { metadata { name } } }",
                Map.of());

        plane.delete(admin, "d-second", false);
        assertThat(runtime("c-first").path("isConfigurationRuntime").asBoolean()).isTrue();
        assertThat(runtime("b-hosted").path("isConfigurationRuntime").asBoolean()).isFalse();
        plane.delete(admin, "c-first", false);
        assertThat(implicit(admin)).isTrue();
    }

    @Test
    void aNameWithAZeroIsAbsentAndSuchACursorIsWrong() {
        String query = "query R($n: String!) { runtime(name: $n) { accessMode } }";
        assertThat(plane.graphQl(admin, query, Map.of("n", "a\0b")).graphQl()).isEqualTo(404);
        assertThat(plane.delete(admin, "a\0b", true).graphQl()).isEqualTo(404);
        assertThat(plane.graphQl(admin,
                "query P($c: String) { runtimes(pagination: {first: 2, after: $c}) { edges { cursor } } }",
                Map.of("c", "a\0b")).graphQl()).isEqualTo(400);
    }

    @Test
    void listsAreReadInPagesBothWays() {
        IntStream.range(0, 5).forEach(i -> plane.created(admin, "r" + i));

        JsonNode first = page("first: 2");
        assertThat(names(first)).containsExactly("r0", "r1");
        assertThat(first.at("/pageInfo/hasNextPage").asBoolean()).isTrue();
        assertThat(first.at("/pageInfo/hasPrevPage").asBoolean()).isFalse();
        JsonNode rest = page("first: 3, after: \"r1\"");
        assertThat(names(rest)).containsExactly("r2", "r3", "r4");
        assertThat(rest.at("/pageInfo/hasNextPage").asBoolean()).isFalse();
        JsonNode last = page("last: 2");
        assertThat(names(last)).containsExactly("r3", "r4");
        assertThat(last.at("/pageInfo/hasPrevPage").asBoolean()).isTrue();
        assertThat(names(page("last: 9, before: \"r2\""))).containsExactly("r0", "r1");
        assertThat(
                plane.graphQl(admin, "{ runtimes(pagination: {first: 201}) { edges { cursor } } }", Map.of())
                        .graphQl())
                .isEqualTo(400);
    }

    @Test
    void aRuntimesEndTakesAllThatModulesKeepForIt() {
        String token = plane.created(admin, "prod");
        settled();

        assertThat(plane.delete(admin, "prod", false).graphQl()).isEqualTo(200);

        assertThat(plane.call("GET", "/api/changes", token, "").status()).isEqualTo(401);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.runtimes).isEmpty());
        delivered();
        assertThat(plane.delete(admin, "prod", false).graphQl()).isEqualTo(404);
        plane.created(admin, "prod");
        settled();
        assertThat(server.changes).containsExactly("+" + account + "/prod", "-" + account + "/prod",
                "+" + account + "/prod");
    }

    @Test
    void webhooksThatWaitNeedForce() {
        plane.created(admin, "prod");
        settled();
        server.pending.add(account + "/prod");
        plane.delete(admin, "prod", false);
        delivered();

        Answer again = plane.create(admin, Map.of("runtimeName", "prod"));
        assertThat(again.graphQl()).isEqualTo(409);
        assertThat(again.error()).contains("2 pending webhooks").contains("force");
        assertThat(server.runtimes).isNotEmpty();
        Answer asked = plane.graphQl(admin, "{ runtime(name: \"prod\") { accessMode } }", Map.of());
        assertThat(asked.graphQl()).isEqualTo(404);
        assertThat(asked.error()).contains("2 pending webhooks").contains("force");
        assertThat(plane.delete(admin, "prod", true).graphQl()).isEqualTo(200);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.runtimes).isEmpty());
        delivered();
        assertThat(plane.create(admin, Map.of("runtimeName", "prod")).graphQl()).isEqualTo(200);
    }

    @Test
    void aNameIsFreeWhenTheTunnelServerHasDeletedItsRuntime() {
        plane.created(admin, "prod");
        settled();
        server.away = true;
        assertThat(plane.delete(admin, "prod", false).graphQl()).isEqualTo(200);

        Answer early = plane.create(admin, Map.of("runtimeName", "prod"));
        assertThat(early.graphQl()).isEqualTo(409);
        assertThat(early.error()).contains("is being deleted");

        server.away = false;
        delivered();
        plane.created(admin, "prod");
        settled();
        assertThat(server.changes).containsExactly("+" + account + "/prod", "-" + account + "/prod",
                "+" + account + "/prod");
    }

    @Test
    void anAccountsEndDeletesWhatTheTunnelServerKept() {
        String other = plane.otherAccount("b");
        String id = plane.call("GET", "/api/me", other, "").json().path("account").asText();
        plane.created(other, "one");
        settled();
        server.pending.add(id + "/one");
        plane.delete(other, "one", false);
        delivered();
        assertThat(server.runtimes).containsKey(id + "/one");

        assertThat(plane.call("DELETE", "/api/accounts/" + id, admin, "").status()).isEqualTo(204);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.runtimes).isEmpty());
    }

    @Test
    void aRefusedDeletionIsTriedAgain() {
        plane.created(admin, "prod");
        settled();
        server.pending.add(account + "/prod");
        plane.delete(admin, "prod", false);
        delivered();
        assertThat(server.runtimes).isNotEmpty();

        whileStopped(server.pending::clear, "UPDATE runtimes_ended SET since = 0");

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.runtimes).isEmpty());
        delivered();
        plane.created(admin, "prod");
    }

    @Test
    void aFullOutboxOfOneAccountStopsNoOther() {
        plane.created(admin, "prod");
        plane.created(plane.otherAccount("b"), "prod");
        plane.created(plane.otherAccount("c"), "prod");
        delivered();
        assertThat(server.runtimes).hasSize(3);

        // What the server has since the second in which it is compared is not judged.
        whileStopped(() -> server.runtimes.keySet().clear(), "UPDATE runtimes_runtimes SET server_since = 1",
                "INSERT INTO platform_outbox (module, account, target, body, created, attempts, next_at)"
                        + " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
                        + " SELECT 'nobody', '" + account + "', 't' || i, '', "
                        + System.currentTimeMillis() + ", 0, 9000000000000 FROM n");

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(server.runtimes).hasSize(2)
                        .doesNotContainKey(account + "/prod"));
    }

    /** Changes the database and another thing while the control plane is stopped; it compares at its start. */
    private void whileStopped(Runnable other, String... statements) {
        plane.stop();
        for (String sql : statements) {
            plane.execute(sql);
        }
        other.run();
        plane.restart();
    }

    @Test
    void anAccountsEndDeletesItsRuntimesAtTheTunnelServer() {
        String other = plane.otherAccount("b");
        String id = plane.call("GET", "/api/me", other, "").json().path("account").asText();
        plane.created(other, "one");
        plane.created(other, "two");
        plane.created(admin, "kept");
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.runtimes).hasSize(3));

        assertThat(plane.call("DELETE", "/api/accounts/" + id, admin, "").status()).isEqualTo(204);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(server.runtimes).containsOnlyKeys(account + "/kept"));
    }

    @Test
    void whatAnotherAccountHasIsNotThere() {
        plane.created(admin, "prod");
        String other = plane.otherAccount("b");

        assertThat(plane.delete(other, "prod", true).graphQl()).isEqualTo(404);
        assertThat(plane.graphQl(other, "{ runtime(name: \"prod\") { accessMode } }", Map.of()).graphQl())
                .isEqualTo(404);
        assertThat(plane.call("GET", "/api/argo-runtime/prod/storeKey", other, "").status()).isEqualTo(404);
        assertThat(plane.graphQl(other, "{ runtimes { edges { cursor } } }", Map.of())
                .json()
                .at("/data/runtimes/edges")).isEmpty();
    }

    @Test
    void theRestCallsCreateAndGiveTheStoreKey() {
        Answer made = plane.call("POST", "/api/argo-runtime", admin, "{\"name\":\"prod\"}");
        assertThat(made.status()).isEqualTo(200);
        String token = made.json().path("token").asText();

        Answer key = plane.call("GET", "/api/argo-runtime/prod/storeKey", token, "");
        assertThat(key.json().path("storeKey").asText()).matches("[0-9a-f]{32}");
        assertThat(plane.call("GET", "/api/argo-runtime/prod/storeKey", admin, "").json())
                .isEqualTo(key.json());
        String second = plane.created(admin, "second");
        assertThat(plane.call("GET", "/api/argo-runtime/prod/storeKey", second, "").status()).isEqualTo(403);
        assertThat(plane.call("POST", "/api/argo-runtime", admin, "{\"name\":\"prod\"}").status())
                .isEqualTo(409);
        assertThat(plane.call("POST", "/api/argo-runtime", token, "{\"name\":\"x\"}").status())
                .isEqualTo(403);
    }

    @Test
    void itsDatabaseHoldsNoSecretOfARuntime() {
        server.away = true; // the messages are kept
        List<String> secrets = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            EnrolmentToken token = EnrolmentToken.parse(plane.created(admin, "planted" + i));
            secrets.add(Base64Url.encode(token.secretHash()));
            secrets.add(HexFormat.of().formatHex(token.secretHash()));
            secrets.add(new String(token.secretHash(), StandardCharsets.ISO_8859_1));
            secrets.add(storeKey("planted" + i));
        }

        String dump = plane.dump();

        assertThat(dump.contains("planted4")).isTrue();
        assertThat(secrets).hasSize(20).noneMatch(dump::contains);
        server.away = false;
        settled();
        assertThat(body("planted0").at("/enrolment/hash").asText()).isEqualTo(secrets.getFirst());
    }

    @Test
    void secretsOfAnEarlierVersionAreWrapped() {
        String key = "0123456789abcdef0123456789abcdef";
        plane.created(admin, "prod");
        settled();
        plane.stop();
        plane.execute("UPDATE runtimes_runtimes SET store_key = '" + key + "', credential = 'id hash'");

        server.runtimes.keySet().clear();
        plane.execute("UPDATE runtimes_runtimes SET server_since = 1");
        plane.restart();

        assertThat(storeKey("prod")).isEqualTo(key);
        awaitSecrets("wrapped:");
        assertThat(storeKey("prod")).isEqualTo(key);
        settled();
        assertThat(body("prod").at("/enrolment/hash").asText()).isEqualTo("hash");
    }

    /** Waits until the secrets of all runtimes begin with a text. */
    private void awaitSecrets(String prefix) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(
                        plane.rows("SELECT store_key || ' ' || credential FROM runtimes_runtimes"))
                        .isNotEmpty()
                        .allSatisfy(row -> assertThat(row).startsWith(prefix).contains(" " + prefix)));
    }

    @Test
    void aRotationWrapsTheSecretsByTheNewKey() {
        plane.created(admin, "prod");
        settled();
        String key = storeKey("prod");
        String before = plane.rows("SELECT store_key FROM runtimes_runtimes").getFirst();
        String old = Plane.read(plane.wrappingKeys());
        String added = Base64.getEncoder().encodeToString(new byte[32]) + "\n";
        Plane.write(plane.wrappingKeys(), added + old + "\n");
        plane.created(admin, "second");
        // The other processes of the database may not have it yet.
        String prefix = before.substring(0, before.lastIndexOf(':') + 1);
        awaitSecrets(prefix);

        assertThat(plane.call("POST", "/api/token-keys", admin, "{}").status()).isEqualTo(201);
        plane.stop();
        plane.restart();

        String now = plane.rows("SELECT wrapped_by FROM token_keys").getFirst();
        assertThat(prefix).doesNotContain(now);
        awaitSecrets("wrapped:" + now + ":");
        Plane.write(plane.wrappingKeys(), added);
        assertThat(storeKey("prod")).isEqualTo(key);
    }

    @Test
    void aSecretWhoseKeyIsGoneIsReported() {
        plane.created(admin, "prod");
        settled();
        String key = storeKey("prod");
        String file = Plane.read(plane.wrappingKeys());

        Plane.write(plane.wrappingKeys(), Base64.getEncoder().encodeToString(new byte[32]) + "\n");
        assertThat(plane.call("GET", "/api/argo-runtime/prod/storeKey", admin, "").status()).isEqualTo(503);
        if (engine == Engine.SQLITE) { // it starts with new keys
            plane.stop();
            plane.restart();
            await().atMost(PATIENCE)
                    .until(() -> plane.call("GET", "/readyz", "", "")
                            .json()
                            .toString()
                            .contains("1 runtimes have secrets"));
        }

        Plane.write(plane.wrappingKeys(),
                Base64.getEncoder().encodeToString(new byte[32]) + "\n" + file + "\n");
        assertThat(storeKey("prod")).isEqualTo(key);
    }

    private String storeKey(String runtime) {
        return plane.call("GET", "/api/argo-runtime/" + runtime + "/storeKey", admin, "")
                .json()
                .path("storeKey")
                .asText();
    }

    @Test
    void aRuntimeReportsItsOwnErrors() {
        String token = plane.created(admin, "prod");
        plane.created(admin, "other");
        String report = "mutation R($a: ReportRuntimeErrorsArgs!) { reportRuntimeErrors(reportErrorsArgs: $a) }";
        List<Map<String, String>> errors = List.of(Map.of("level", "ERROR", "message", "no disk"));

        assertThat(plane.graphQl(token, report, Map.of("a", Map.of("runtime", "prod", "errors", errors)))
                .json()
                .at("/data/reportRuntimeErrors")
                .asInt()).isEqualTo(1);
        assertThat(plane.graphQl(token, report, Map.of("a", Map.of("runtime", "other", "errors", errors)))
                .graphQl()).isEqualTo(403);
        assertThat(runtime("prod").path("healthMessage").asText()).isEqualTo("no disk");
        long changes = changes(token);
        assertThat(plane.graphQl(token, report, Map.of("a", Map.of("runtime", "prod", "errors", errors)))
                .graphQl()).isEqualTo(200);
        assertThat(changes(token)).isEqualTo(changes);
        assertThat(plane.graphQl(token, report, Map.of("a", Map.of("runtime", "prod", "errors", List.of())))
                .graphQl()).isEqualTo(200);
        assertThat(changes(token)).isGreaterThan(changes);
    }

    @Test
    void errorsThatChangeTooOftenAreRefused() {
        String token = plane.created(admin, "prod");
        String report = "mutation R($a: ReportRuntimeErrorsArgs!) { reportRuntimeErrors(reportErrorsArgs: $a) }";

        assertThat(IntStream.range(0, 30)
                .map(i -> plane
                        .graphQl(token, report,
                                Map.of("a", Map.of("runtime", "prod", "errors",
                                        List.of(Map.of("level", "ERROR", "message", "m" + i)))))
                        .graphQl()))
                .contains(200, 429);
    }

    @Test
    void meHasThePublicShape() {
        String token = plane.created(admin, "prod");
        String me = "query me { me { runtimeName activeAccount { id name gitProvider gitApiUrl sharedConfigRepo csdpValidated admins } } }";

        JsonNode before = plane.graphQl(token, me, Map.of()).json().at("/data/me");
        assertThat(before.path("runtimeName").asText()).isEqualTo("prod");
        assertThat(before.at("/activeAccount/csdpValidated").asBoolean()).isFalse();
        assertThat(plane.graphQl(admin,
                "mutation { suggestIscRepo(suggestedSharedConfigRepo: \"https://g.test/isc\") }",
                Map.of()).json().at("/data/suggestIscRepo").asText()).isEqualTo("https://g.test/isc");
        assertThat(plane.graphQl(admin,
                "mutation { suggestIscRepo(suggestedSharedConfigRepo: \"https://g.test/x\") }",
                Map.of()).json().at("/data/suggestIscRepo").asText()).isEqualTo("https://g.test/isc");
        assertThat(settings("https://jo:secret@g.test/isc").graphQl()).isEqualTo(400);
        assertThat(settings("https://g.test/other").graphQl()).isEqualTo(200);

        JsonNode after = plane.graphQl(admin, me, Map.of()).json().at("/data/me");
        assertThat(after.path("runtimeName").isNull()).isTrue();
        assertThat(after.at("/activeAccount/gitProvider").asText()).isEqualTo("GITHUB");
        assertThat(after.at("/activeAccount/sharedConfigRepo").asText()).isEqualTo("https://g.test/other");
        assertThat(after.at("/activeAccount/csdpValidated").asBoolean()).isTrue();
        assertThat(after.at("/activeAccount/admins")).hasSize(1);
    }

    private Answer settings(String repo) {
        return plane.graphQl(admin,
                "mutation updateCsdpSettings($gitProvider: GitProviders!, $gitApiUrl: String!, $sharedConfigRepo: String!) { updateCsdpSettings(gitProvider: $gitProvider, gitApiUrl: $gitApiUrl, sharedConfigRepo: $sharedConfigRepo) }",
                Map.of("gitProvider", "GITHUB", "gitApiUrl", "https://api.g.test", "sharedConfigRepo", repo));
    }

    @Test
    void theTunnelServersAbsenceLosesNothing() {
        plane.created(admin, "before");
        settled();
        server.away = true;
        IntStream.range(0, 100).forEach(i -> plane.created(admin, "r" + i));
        IntStream.range(0, 50)
                .forEach(i -> assertThat(plane.delete(admin, "r" + i, false).graphQl())
                        .isEqualTo(200));
        assertThat(server.runtimes).hasSize(1);

        server.away = false;

        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(server.runtimes).hasSize(51);
            assertThat(waiting()).isZero();
        });
        assertThat(server.runtimes).containsKeys(account + "/before", account + "/r50", account + "/r99")
                .doesNotContainKey(account + "/r49");
        assertThat(runtime("r99").path("tunnelServer").asText()).isEqualTo("ready");
    }

    @Test
    void anAnswerThatIsLostCreatesNoSecondRuntime() {
        server.losing.set(1);
        plane.created(admin, "prod");

        settled();
        assertThat(server.changes).containsExactly("+" + account + "/prod");
        server.losing.set(1);
        plane.delete(admin, "prod", false);
        delivered();
        assertThat(server.changes).containsExactly("+" + account + "/prod", "-" + account + "/prod");
    }

    @Test
    void aRestartDeliversWhatWaits() {
        server.away = true;
        plane.created(admin, "prod");
        plane.stop();
        server.away = false;
        plane.restart();

        settled();
        assertThat(server.changes).containsExactly("+" + account + "/prod");
    }

    @Test
    void aTunnelServerThatRefusesIsReported() {
        server.runtimes.put(account + "/prod", MissingNode.getInstance());
        plane.created(admin, "prod");
        delivered();

        JsonNode runtime = runtime("prod");
        assertThat(runtime.path("tunnelServer").asText()).startsWith("refused: ").contains("exists already");
        assertThat(runtime.path("healthStatus").asText()).isEqualTo("DEGRADED");
    }

    @Test
    void theListShowsWhatTheTunnelServerRefuses() {
        for (String name : List.of("hosted", "prod")) {
            server.runtimes.put(account + "/" + name, MissingNode.getInstance());
        }
        plane.create(admin, Map.of("runtimeName", "hosted", "managed", true));
        plane.created(admin, "prod");
        delivered();

        JsonNode edges = plane
                .graphQl(admin, "{ runtimes { edges { node { tunnelServer healthStatus healthMessage } } } }",
                        Map.of())
                .json()
                .at("/data/runtimes/edges");

        assertThat(edges.findValuesAsText("tunnelServer")).hasSize(2)
                .allSatisfy(state -> assertThat(state).startsWith("refused: ").contains("exists already"));
        assertThat(edges.findValuesAsText("healthMessage")).hasSize(2)
                .containsOnly("the tunnel server refuses it");
        assertThat(edges.findValuesAsText("healthStatus")).containsOnly("DEGRADED");
    }

    /** Where the account's changes are. */
    private long changes(String key) {
        return plane.call("GET", "/api/changes", key, "").json().path("next").asLong(-1);
    }

    private boolean implicit(String key) {
        return plane.graphQl(key, "{ shouldBeImplicitConfigurationRuntime }", Map.of())
                .json()
                .at("/data/shouldBeImplicitConfigurationRuntime")
                .asBoolean();
    }

    private JsonNode page(String pagination) {
        return plane.graphQl(admin, "{ runtimes(pagination: {" + pagination
                + "}) { edges { cursor node { metadata { name } } } pageInfo { startCursor endCursor hasNextPage hasPrevPage } } }",
                Map.of()).json().at("/data/runtimes");
    }

    private static List<String> names(JsonNode page) {
        return page.path("edges").findValuesAsText("name");
    }

    private JsonNode runtime(String name) {
        return plane
                .graphQl(admin,
                        "query R($n: String!) { runtime(name: $n) { accessMode legacyRoutes ingressHost"
                                + " healthStatus healthMessage isConfigurationRuntime tunnelServer } }",
                        Map.of("n", name))
                .json()
                .at("/data/runtime");
    }

    private JsonNode body(String name) {
        return server.runtimes.getOrDefault(account + "/" + name, MissingNode.getInstance());
    }

    private int waiting() {
        return plane.call("GET", "/api/outbox", admin, "").json().path("items").size();
    }

    private void delivered() {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(waiting()).isZero());
    }

    private void settled() {
        delivered();
        assertThat(server.runtimes).isNotEmpty();
    }
}
