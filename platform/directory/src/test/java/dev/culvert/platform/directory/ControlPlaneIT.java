package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.StoreSettings;
import dev.culvert.store.Database.Engine;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The API, on both engines. */
@ParameterizedClass
@EnumSource
class ControlPlaneIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final StoreSettings store;

    @TempDir
    Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private ControlPlane plane;
    private String admin = "";

    ControlPlaneIT(Engine engine) {
        store = TestStore.empty(engine);
    }

    @BeforeEach
    void start() throws IOException {
        plane = Objects.requireNonNull(ControlPlane
                .start(ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder, store,
                        ControlPlaneConfig.Nudge.none()))
                .block(TIME));
        admin = Files.readString(folder.resolve("admin.key")).strip();
    }

    @AfterEach
    void stop() {
        plane.stop(Duration.ZERO).block(TIME);
    }

    @Test
    void theFirstKeyIsItsOwnersAlone() throws Exception {
        assertThat(Files.getPosixFilePermissions(folder.resolve("admin.key")))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        JsonNode me = json(call("GET", "/api/me", admin, ""));
        assertThat(me.path("admin").booleanValue()).isTrue();
        assertThat(me.path("account").textValue()).matches("[0-9a-f]{24}");
    }

    @Test
    void aRestartMakesNoSecondFirstKey() throws Exception {
        stop();
        start();

        assertThat(call("GET", "/api/users", admin, "").statusCode()).isEqualTo(200);
        assertThat(json(call("GET", "/api/keys", admin, "")).path("items")).hasSize(1);
    }

    @Test
    void theDocumentListsEveryPathThatIsMounted() throws Exception {
        List<String> paths = new ArrayList<>();
        json(call("GET", "/openapi.json", "", "")).path("paths").fieldNames().forEachRemaining(paths::add);

        List<String> mounts = new ArrayList<>(new DirectoryProvider().mounts());
        mounts.addAll(List.of("/api/ping", "/openapi.json", "/graphql.sdl", "/api/outbox",
                "/2.0/api/graphql"));
        assertThat(mounts).allSatisfy(mount -> assertThat(paths).as(mount)
                .anyMatch(path -> mount.endsWith("/") ? (path + "/").startsWith(mount) : path.equals(mount)));
        assertThat(paths).allSatisfy(path -> assertThat(mounts).as(path)
                .anyMatch(
                        mount -> mount.endsWith("/") ? (path + "/").startsWith(mount) : path.equals(mount)));
        for (String path : paths) {
            assertThat(call("OPTIONS", path.replaceAll("[{}]", ""), admin, "").statusCode()).as(path)
                    .isEqualTo(405);
        }
        assertThat(call("GET", "/graphql.sdl", "", "").body()).contains("me: User!");
    }

    @Test
    void anAccountIsDeletedWithItsUsersKeys() throws Exception {
        String other = id(call("POST", "/api/accounts", admin, "{\"name\":\"other\"}"));
        String own = json(call("GET", "/api/me", admin, "")).path("account").textValue();
        String user = id(call("POST", "/api/users?account=" + other, admin,
                "{\"name\":\"X\",\"email\":\"x@other.test\"}"));
        String key = json(call("POST", "/api/keys?account=" + other, admin, "{\"user\":\"" + user + "\"}"))
                .path("key")
                .textValue();
        assertThat(call("GET", "/api/me", key, "").statusCode()).isEqualTo(200);

        assertThat(call("DELETE", "/api/accounts/" + other, key, "").statusCode()).isEqualTo(403);
        assertThat(call("DELETE", "/api/accounts/" + own, admin, "").statusCode()).isEqualTo(409);
        assertThat(call("DELETE", "/api/accounts/" + other, admin, "").statusCode()).isEqualTo(204);

        assertThat(call("GET", "/api/me", key, "").statusCode()).isEqualTo(401);
        assertThat(call("DELETE", "/api/accounts/" + other, admin, "").statusCode()).isEqualTo(404);
    }

    @Test
    void decidesByRules() throws Exception {
        String jo = id(call("POST", "/api/users", admin, "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
        String key = key("{\"user\":\"" + jo + "\"}");
        String question = "{\"entity\":\"workflows\",\"action\":\"TERMINATE\",\"attributes\":{\"namespace\":\"argo\"}}";
        assertThat(json(call("POST", "/api/abac/decide", key, question)).path("isValid").booleanValue())
                .isFalse();

        String rule = id(call("POST", "/api/abac", admin,
                "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\"],\"users\":[\"" + jo + "\"]}"));

        assertThat(json(call("POST", "/api/abac/decide", key, question)).path("isValid").booleanValue())
                .isTrue();
        assertThat(call("DELETE", "/api/abac/" + rule, admin, "").statusCode()).isEqualTo(204);
        assertThat(json(call("POST", "/api/abac/decide", key, question)).path("isValid").booleanValue())
                .isFalse();
    }

    @Test
    void rulesHaveThePublicFormToo() throws Exception {
        String team = id(call("POST", "/api/teams", admin, "{\"name\":\"ops\"}"));
        JsonNode rule = json(call("POST", "/api/abac", admin,
                "{\"resource\":\"pipeline\",\"action\":\"read\",\"team\":\"" + team
                        + "\",\"tags\":[\"red\"]}"));

        assertThat(rule.path("entity").textValue()).isEqualTo("pipelines");
        assertThat(rule.at("/actions/0").textValue()).isEqualTo("VIEW");
        assertThat(rule.at("/teams/0").textValue()).isEqualTo(team);
        assertThat(rule.at("/attributes/label/0").textValue()).isEqualTo("red");
        assertThat(call("POST", "/api/abac", admin,
                "{\"resource\":\"pipeline\",\"action\":\"fly\",\"team\":\"" + team + "\"}").statusCode())
                .isEqualTo(400);
    }

    @Test
    void publicNamesHaveThePublicShapes() throws Exception {
        String account = json(call("GET", "/api/me", admin, "")).path("account").textValue();
        HttpResponse<String> key = call("POST", "/api/auth/key", admin, "{\"name\":\"ci\"}");
        assertThat(key.statusCode()).isEqualTo(200);
        assertThat(call("GET", "/api/user", key.body(), "").statusCode()).isEqualTo(200);
        JsonNode keys = json(call("GET", "/api/auth/keys", admin, ""));
        assertThat(keys.findValuesAsText("name")).contains("ci");
        String id = key.body().substring(0, key.body().indexOf('.'));
        assertThat(json(call("GET", "/api/auth/key/" + id, admin, "")).path("_id").textValue()).isEqualTo(id);
        assertThat(call("DELETE", "/api/auth/key/" + id, admin, "").statusCode()).isEqualTo(204);
        assertThat(call("GET", "/api/user", key.body(), "").statusCode()).isEqualTo(401);
        JsonNode user = json(call("GET", "/api/user", admin, ""));
        assertThat(user.path("activeAccountName").textValue()).isEqualTo("main");
        assertThat(user.at("/account/0/admins/0").textValue()).isEqualTo(user.path("_id").textValue());
        JsonNode users = json(call("GET", "/api/accounts/" + account + "/users", admin, ""));
        assertThat(users.at("/0/email").textValue()).isEqualTo("admin@localhost");
        String team = json(call("POST", "/api/team", admin, "{\"name\":\"ops\",\"users\":[]}")).path("_id")
                .textValue();
        assertThat(call("PUT", "/api/team/" + team + "/" + user.path("_id").textValue() + "/assignUserToTeam",
                admin, "").statusCode()).isEqualTo(204);
        assertThat(json(call("GET", "/api/team", admin, "")).at("/0/users/0/email").textValue())
                .isEqualTo("admin@localhost");
    }

    @Test
    void tellsWhoAsksInGraphQl() throws Exception {
        String query = "{\"query\":\"query me{me{id name email isAdmin activeAccount{id name}}}\"}";

        JsonNode me = json(call("POST", "/2.0/api/graphql", admin, query)).path("data").path("me");

        assertThat(me.path("isAdmin").booleanValue()).isTrue();
        assertThat(me.path("email").textValue()).isEqualTo("admin@localhost");
        assertThat(me.path("activeAccount").path("name").textValue()).isEqualTo("main");
        HttpResponse<String> refused = call("POST", "/2.0/api/graphql", "nobody", query);
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.body()).contains("unauthorized");
    }

    @Test
    void onlyAdministratorsChangeAnything() throws Exception {
        String jo = id(call("POST", "/api/users", admin, "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
        String key = key("{\"user\":\"" + jo + "\"}");

        HttpResponse<String> refused = call("POST", "/api/abac", key,
                "{\"entity\":\"workflows\",\"actions\":[\"TERMINATE\"],\"users\":[\"" + jo + "\"]}");

        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(json(call("GET", "/api/abac", admin, "")).path("items")).isEmpty();
        assertThat(Files.readString(folder.resolve("audit-refused.log"))).contains(jo, "/api/abac", "denied");
        assertThat(call("GET", "/api/users", "nonsense", "").statusCode()).isEqualTo(401);
        assertThat(call("GET", "/api/tokens/resolve", key, "").statusCode()).isEqualTo(405);
    }

    /** The operator's account may have administrators who are none. */
    @Test
    void administratorsDoNotBecomeOperators() throws Exception {
        JsonNode operator = json(call("GET", "/api/me", admin, ""));
        String first = json(call("GET", "/api/keys", admin, "")).path("items").path(0).path("id").textValue();
        String jo = id(call("POST", "/api/users", admin,
                "{\"name\":\"Jo\",\"email\":\"jo@acme.test\",\"admin\":true}"));
        String key = key("{\"user\":\"" + jo + "\"}");
        String operators = operator.path("id").textValue();

        assertThat(call("POST", "/api/keys", key, "{\"user\":\"" + operators + "\"}").statusCode())
                .isEqualTo(403);
        assertThat(call("DELETE", "/api/users/" + operators, key, "").statusCode()).isEqualTo(403);
        assertThat(call("DELETE", "/api/keys/" + first, key, "").statusCode()).isEqualTo(403);
        assertThat(call("POST", "/api/accounts", key, "{\"name\":\"x\"}").statusCode()).isEqualTo(403);
        assertThat(call("DELETE", "/api/users/" + operators, admin, "").statusCode()).isEqualTo(409);
        assertThat(call("POST", "/api/keys", key, "{\"user\":\"" + jo + "\"}").statusCode()).isEqualTo(201);
    }

    @Test
    void theAuditLogNamesWhatWasMadeAndWhere() throws Exception {
        String other = id(call("POST", "/api/accounts", admin, "{\"name\":\"other\"}"));
        HttpResponse<String> made = call("POST", "/api/users?account=" + other, admin,
                "{\"name\":\"X\",\"email\":\"x@other.test\"}");

        String object = "/api/users/" + id(made);
        assertThat(made.headers().firstValue("location")).hasValue(object);
        assertThat(Files.readString(folder.resolve("audit-changes.log"))).contains(
                "\"account\":\"" + other + "\",\"action\":\"POST\"", "\"object\":\"" + object + "\"");
    }

    @Test
    void theAuditLogHasRulesAndRefusals() throws Exception {
        String jo = id(call("POST", "/api/users", admin, "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
        String key = key("{\"user\":\"" + jo + "\"}");
        HttpResponse<String> rule = call("POST", "/api/abac", admin,
                "{\"entity\":\"workflows\",\"actions\":[\"VIEW\"],"
                        + "\"users\":[\"" + jo + "\"],\"attributes\":{\"namespace\":[\"argo\"]}}");
        assertThat(rule.statusCode()).isEqualTo(201);
        assertThat(call("DELETE", "/api/abac/" + id(rule), admin, "").statusCode()).isEqualTo(204);

        assertThat(call("GET", "/api/abac", key, "").statusCode()).isEqualTo(403);
        for (int i = 0; i < 20; i++) {
            assertThat(call("GET", "/api/users", "wrong", "").statusCode()).isEqualTo(401);
        }

        assertThat(Files.readAllLines(folder.resolve("audit-changes.log")))
                .filteredOn(line -> line.contains("/api/abac/"))
                .hasSize(2)
                .allMatch(line -> line.contains("workflows [VIEW]") && line.contains(jo)
                        && line.contains("{namespace=[argo]}"));
        assertThat(Files.readAllLines(folder.resolve("audit-refused.log")))
                .anyMatch(line -> line.contains("\"object\":\"/api/abac\"") && line.contains(jo))
                .anyMatch(line -> line.contains("\"object\":\"/api/users\""))
                .hasSizeLessThan(10);
    }

    @Test
    void aRuntimeLearnsWhoseATokenIs() throws Exception {
        String runtime = key("{\"runtime\":\"prod\"}");
        String other = id(call("POST", "/api/accounts", admin, "{\"name\":\"other\"}"));
        String stranger = id(call("POST", "/api/users?account=" + other, admin,
                "{\"name\":\"X\",\"email\":\"x@other.test\"}"));
        String strangers = json(
                call("POST", "/api/keys?account=" + other, admin, "{\"user\":\"" + stranger + "\"}"))
                .path("key")
                .textValue();

        assertThat(resolve(runtime, admin).path("state").textValue()).isEqualTo("known");
        assertThat(resolve(runtime, strangers).path("state").textValue()).isEqualTo("foreign");
        assertThat(resolve(runtime, strangers).path("user").isNull()).isTrue();
        assertThat(resolve(runtime, runtime).path("state").textValue()).isEqualTo("unknown");
        assertThat(resolve(runtime, "gone").path("state").textValue()).isEqualTo("unknown");
        assertThat(call("POST", "/api/tokens/resolve", admin, "{\"token\":\"x\"}").statusCode())
                .isEqualTo(403);
        assertThat(call("GET", "/api/users", runtime, "").statusCode()).isEqualTo(403);
    }

    @Test
    void aTokenOfOneRuntimeIsWorthNothingElsewhere() throws Exception {
        String prod = key("{\"runtime\":\"prod\"}");
        String test = key("{\"runtime\":\"test\"}");
        String jo = id(call("POST", "/api/users", admin, "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
        HttpResponse<String> made = call("POST", "/api/runtime-tokens", key("{\"user\":\"" + jo + "\"}"),
                "{\"runtime\":\"prod\",\"ttlSeconds\":60}");
        String token = json(made).path("token").textValue();

        assertThat(made.statusCode()).isEqualTo(201);
        JsonNode known = resolve(prod, token);
        assertThat(known.path("state").textValue()).isEqualTo("known");
        assertThat(known.path("user").path("id").textValue()).isEqualTo(jo);
        assertThat(known.path("expires").longValue()).isEqualTo(json(made).path("expires").longValue());
        assertThat(resolve(test, token).path("state").textValue()).isEqualTo("unknown");
        assertThat(resolve(prod, token.substring(0, token.length() - 3) + "AAA").path("state").textValue())
                .isEqualTo("unknown");
        assertThat(call("GET", "/api/me", token, "").statusCode()).isEqualTo(401);
        assertThat(call("DELETE", "/api/users/" + jo, admin, "").statusCode()).isEqualTo(204);
        assertThat(resolve(prod, token).path("state").textValue()).isEqualTo("unknown");
    }

    @Test
    void tokensAreForRuntimesThatAreThereAndForAnHour() throws Exception {
        assertThat(call("POST", "/api/runtime-tokens", admin, "{\"runtime\":\"none\"}").statusCode())
                .isEqualTo(404);
        assertThat(call("POST", "/api/runtime-tokens", admin, "{\"runtime\":\"prod\",\"ttlSeconds\":3601}")
                .body()).contains("ttlSeconds: 1..3600");
        assertThat(call("POST", "/api/runtime-tokens", key("{\"runtime\":\"prod\"}"),
                "{\"runtime\":\"prod\"}").statusCode()).isEqualTo(403);
        assertThat(call("POST", "/api/keys", admin, "{\"runtime\":\"prod\",\"expires\":1}").body())
                .contains("expires: 1 is past");
    }

    @Test
    void aRuntimeThatMovesLeavesARecordOnceAMinute() throws Exception {
        stop();
        plane = Objects.requireNonNull(ControlPlane
                .start(ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder, store,
                        new ControlPlaneConfig.Nudge(List.of("http://127.0.0.1:*"), null)))
                .block(TIME));
        String runtime = key("{\"runtime\":\"prod\"}");

        for (int port : List.of(1, 1)) {
            assertThat(call("PUT", "/api/runtime", runtime, "{\"url\":\"http://127.0.0.1:" + port + "\"}")
                    .statusCode()).isEqualTo(204);
        }

        assertThat(call("PUT", "/api/runtime", runtime, "{\"url\":\"http://127.0.0.1:2\"}").statusCode())
                .isEqualTo(503);
        assertThat(Files.readAllLines(folder.resolve("audit-changes.log")))
                .filteredOn(line -> line.contains("/api/runtime "))
                .singleElement()
                .asString()
                .contains("runtime prod", "http://127.0.0.1:1");
    }

    @Test
    void wrongBodiesAreNamed() throws Exception {
        assertThat(call("POST", "/api/users", admin, "{\"name\":\"Jo\",\"email\":\"j@x\",\"nam\":1}").body())
                .contains("nam: unknown field");
        assertThat(call("POST", "/api/users", admin, "{\"name\":\"Jo\"}").body()).contains("email");
        assertThat(call("POST", "/api/keys", admin, "[1]").statusCode()).isEqualTo(400);
        assertThat(call("POST", "/api/users", admin, "{\"name\":\"J<\",\"email\":\"j@x\"}").body())
                .contains("name: a line");
        assertThat(call("POST", "/api/abac", admin,
                "{\"entity\":\"cats\",\"actions\":[\"VIEW\"],\"users\":[\"x\"]}").body())
                .contains("entity: unknown word");
        assertThat(call("POST", "/api/abac", admin,
                "{\"entity\":\"workflows\",\"actions\":[null],\"users\":[\"x\"]}").statusCode())
                .isEqualTo(400);
        assertThat(call("POST", "/api/abac/decide", admin,
                "{\"entity\":\"workflows\",\"action\":\"VIEW\",\"attributes\":{\"name\":null}}").statusCode())
                .isEqualTo(400);
    }

    @Test
    void aBackupOfARunningOneIsAWholeDirectory() throws Exception {
        assumeTrue(store.kind() == StoreSettings.Kind.SQLITE); // a server has tools of its own
        String runtime = key("{\"runtime\":\"prod\"}");
        Path copy = folder.resolve("copy.db");

        ControlPlane.backup(folder, copy).block(TIME);
        key("{\"runtime\":\"later\"}");

        assertThat(Files.getPosixFilePermissions(copy))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThatThrownBy(() -> ControlPlane.backup(folder, copy).block(TIME))
                .hasMessageContaining("exists already");
        stop();
        Files.deleteIfExists(folder.resolve("directory.db-wal"));
        Files.deleteIfExists(folder.resolve("directory.db-shm"));
        Files.copy(copy, folder.resolve("directory.db"), StandardCopyOption.REPLACE_EXISTING);
        start();
        assertThat(json(call("GET", "/api/keys", admin, "")).path("items")).hasSize(2);
        assertThat(resolve(runtime, admin).path("state").textValue()).isEqualTo("known");
    }

    /** What a thief of the folder gets. */
    @Test
    void itsFilesHoldNoKey() throws Exception {
        String runtime = key("{\"runtime\":\"prod\"}");
        Files.delete(folder.resolve("admin.key"));
        resolve(runtime, admin);
        plane.stop(Duration.ZERO).block(TIME);

        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String content = Files.readString(file, StandardCharsets.ISO_8859_1);
                for (String key : List.of(admin, runtime)) {
                    byte[] secret = key.substring(25).getBytes(StandardCharsets.UTF_8);
                    assertThat(content).as(file.toString())
                            .doesNotContain(key)
                            .doesNotContain(key.substring(25))
                            .doesNotContain(Base64.getEncoder().withoutPadding().encodeToString(secret))
                            .doesNotContain(HexFormat.of().formatHex(secret));
                }
            }
        }
        restartWithoutFirstKey();
    }

    private void restartWithoutFirstKey() {
        plane = Objects.requireNonNull(ControlPlane
                .start(ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder, store,
                        ControlPlaneConfig.Nudge.none()))
                .block(TIME));
        assertThat(folder.resolve("admin.key")).doesNotExist();
    }

    private JsonNode resolve(String runtime, String token) throws IOException, InterruptedException {
        return json(call("POST", "/api/tokens/resolve", runtime, "{\"token\":\"" + token + "\"}"));
    }

    private String key(String body) throws IOException, InterruptedException {
        return json(call("POST", "/api/keys", admin, body)).path("key").textValue();
    }

    private String id(HttpResponse<String> made) throws IOException {
        assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        return json(made).path("id").textValue();
    }

    private JsonNode json(HttpResponse<String> answer) throws IOException {
        return json.readTree(answer.body());
    }

    private HttpResponse<String> call(String method, String path, String key, String body)
            throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                .header("Authorization", key)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }
}
