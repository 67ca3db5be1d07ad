package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.culvert.config.ConfigException;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.store.SqliteDatabase;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What signs runtime tokens, and who still has access. */
class TokenKeysIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private ControlPlaneKit plane;

    @BeforeEach
    void start() throws IOException {
        plane = ControlPlaneKit.start(folder);
    }

    @AfterEach
    void stop() {
        plane.close();
    }

    @Test
    void rotationUnderLoadRefusesNoToken() throws Exception {
        String runtime = plane.key("{\"runtime\":\"prod\"}").path("key").textValue();
        var done = new AtomicBoolean();
        List<String> refused = new ArrayList<>();
        Set<String> kids = new HashSet<>();
        CompletableFuture<Void> load = CompletableFuture.runAsync(() -> {
            List<String> tokens = new ArrayList<>();
            try {
                while (!done.get() || kids.size() < 2) {
                    String token = plane.token(plane.admin(), "prod").path("token").textValue();
                    tokens.add(token);
                    kids.add(SignedJWT.parse(token).getHeader().getKeyID());
                    for (String each : List.of(token, tokens.getFirst())) {
                        if (!plane.resolve(runtime, each).path("state").asText().equals("known")) {
                            refused.add(each);
                        }
                    }
                }
            } catch (IOException | InterruptedException | ParseException e) {
                throw new IllegalStateException(e);
            }
        });

        for (int i = 0; i < 3; i++) {
            HttpResponse<String> made = plane.call("POST", "/api/token-keys", plane.admin(), "{}");
            assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        }
        done.set(true);

        load.orTimeout(1, TimeUnit.MINUTES).join();
        assertThat(refused).isEmpty();
        assertThat(plane.json(plane.call("GET", "/api/token-keys", plane.admin(), "")).path("items"))
                .hasSize(4);
    }

    @Test
    void aRepeatedRotationGetsTheFirstAnswerAndChangesNothing() throws Exception {
        HttpResponse<String> first = plane.named("/api/token-keys", "{\"newWrappingKey\":true}",
                "rotation-1");
        assertThat(first.statusCode()).as(first.body()).isEqualTo(201);
        String file = Files.readString(folder.resolve("token.key"));

        HttpResponse<String> again = plane.named("/api/token-keys", "{\"newWrappingKey\":true}",
                "rotation-1");

        assertThat(again.statusCode()).as(again.body()).isEqualTo(201);
        assertThat(again.headers().firstValue("idempotency-replayed")).contains("true");
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(again.headers().firstValue("location")).isEqualTo(first.headers().firstValue("location"));
        assertThat(Files.readString(folder.resolve("token.key"))).isEqualTo(file);
        assertThat(plane.json(plane.call("GET", "/api/token-keys", plane.admin(), "")).path("items"))
                .hasSize(2);
    }

    @Test
    void onlyOperatorsSeeAndRotateKeys() throws Exception {
        String jo = plane.id(plane.call("POST", "/api/users", plane.admin(),
                "{\"name\":\"Jo\",\"email\":\"jo@acme.test\",\"admin\":true}"));
        String key = plane.key("{\"user\":\"" + jo + "\"}").path("key").textValue();

        assertThat(plane.call("GET", "/api/token-keys", key, "").statusCode()).isEqualTo(403);
        assertThat(plane.call("POST", "/api/token-keys", key, "{}").statusCode()).isEqualTo(403);
        String list = plane.call("GET", "/api/token-keys", plane.admin(), "").body();
        assertThat(list).contains("kid", "wrappedBy").doesNotContain("\"wrapped\"", "secret");
    }

    @Test
    void aRevokedKeyEndsItsTokens() throws Exception {
        String runtime = plane.key("{\"runtime\":\"prod\"}").path("key").textValue();
        String jo = plane.id(plane.call("POST", "/api/users", plane.admin(),
                "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
        JsonNode key = plane.key("{\"user\":\"" + jo + "\"}");
        String token = plane.token(key.path("key").textValue(), "prod").path("token").textValue();
        assertThat(plane.resolve(runtime, token).path("state").textValue()).isEqualTo("known");

        assertThat(plane.call("DELETE", "/api/keys/" + key.path("id").textValue(), plane.admin(), "")
                .statusCode()).isEqualTo(204);

        assertThat(plane.resolve(runtime, token).path("state").textValue()).isEqualTo("unknown");
    }

    @Test
    void theLastOperatorsKeyStaysUnlessForced() throws Exception {
        String first = plane.json(plane.call("GET", "/api/keys", plane.admin(), ""))
                .path("items")
                .path(0)
                .path("id")
                .textValue();

        HttpResponse<String> refused = plane.call("DELETE", "/api/keys/" + first, plane.admin(), "");
        assertThat(refused.statusCode()).isEqualTo(409);
        assertThat(refused.body()).contains("last valid API key of an operator", "force=true", "recover");
        assertThat(plane.call("DELETE", "/api/keys/" + first + "?force=1", plane.admin(), "").statusCode())
                .isEqualTo(400);

        String operator = plane.json(plane.call("GET", "/api/me", plane.admin(), "")).path("id").textValue();
        JsonNode second = plane.key("{\"user\":\"" + operator + "\"}");
        assertThat(plane.call("DELETE", "/api/keys/" + first, plane.admin(), "").statusCode()).isEqualTo(204);
        String key = second.path("key").textValue();
        String last = "/api/keys/" + second.path("id").textValue();
        assertThat(plane.call("DELETE", last, key, "").statusCode()).isEqualTo(409);
        assertThat(plane.call("DELETE", last + "?force=true", key, "").statusCode()).isEqualTo(204);
        assertThat(plane.call("GET", "/api/me", key, "").statusCode()).isEqualTo(401);
    }

    @Test
    void aKeyThatOthersMayReadKeepsItFromStarting() throws Exception {
        stop();
        Path file = folder.resolve("token.key");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        try {
            assertThatThrownBy(() -> ControlPlane.start(ControlPlaneKit.config(folder)).block(TIME))
                    .isInstanceOf(ConfigException.class)
                    .hasMessageContaining("tokenKeys.file", "0600");
        } finally {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            plane = ControlPlaneKit.start(folder, plane.admin());
        }
    }

    /** Whoever has the database and its backups, but no file beside them. */
    @Test
    void aCopyOfDatabaseAndBackupsForgesNoToken() throws Exception {
        String runtime = plane.key("{\"runtime\":\"prod\"}").path("key").textValue();
        String genuine = plane.token(plane.admin(), "prod").path("token").textValue();
        assertThat(plane.call("POST", "/api/token-keys", plane.admin(), "{}").statusCode()).isEqualTo(201);
        Path backup = folder.resolve("backup.db");
        ControlPlane.backup(folder, backup).block(TIME);
        SignedJWT known = SignedJWT.parse(genuine);

        int tried = 0;
        for (byte[] secret : everythingIn(backup)) {
            for (String kid : List.of(known.getHeader().getKeyID(), newestKid())) {
                tried++;
                assertThat(plane.resolve(runtime, forged(known, kid, secret)).path("state").textValue())
                        .isEqualTo("unknown");
            }
        }

        assertThat(tried).isGreaterThan(100);
        assertThat(plane.resolve(runtime, genuine).path("state").textValue()).isEqualTo("known");
    }

    /** A database of an earlier build, whose backups hold a secret in clear. */
    @Test
    void theSecretOfAnEarlierVersionSignsNothing() throws Exception {
        String runtime = plane.key("{\"runtime\":\"prod\"}").path("key").textValue();
        SignedJWT known = SignedJWT.parse(plane.token(plane.admin(), "prod").path("token").textValue());
        stop();
        byte[] old = new byte[32];
        Arrays.fill(old, (byte) 7);
        try (Connection connection = SqliteDatabase.connect(folder.resolve("directory.db"));
                Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE token_keys");
            statement.execute("CREATE TABLE token_secret (only INTEGER PRIMARY KEY CHECK (only = 1),"
                    + " secret BLOB NOT NULL) STRICT");
            statement.execute("INSERT INTO token_secret VALUES (1, X'" + HexFormat.of().formatHex(old)
                    + "')");
            statement.execute("UPDATE platform_versions SET version = 3 WHERE module = 'directory'");
        }

        plane = ControlPlaneKit.start(folder, plane.admin());

        var bare = new SignedJWT(new JWSHeader(JWSAlgorithm.HS256), known.getJWTClaimsSet());
        bare.sign(new MACSigner(old));
        assertThat(plane.resolve(runtime, bare.serialize()).path("state").textValue()).isEqualTo("unknown");
        assertThat(plane.resolve(runtime, forged(known, newestKid(), old)).path("state").textValue())
                .isEqualTo("unknown");
        String fresh = plane.token(plane.admin(), "prod").path("token").textValue();
        assertThat(plane.resolve(runtime, fresh).path("state").textValue()).isEqualTo("known");
    }

    @Test
    void noFileOfItsHoldsAKeyOrToken() throws Exception {
        List<String> secrets = new ArrayList<>(List.of(plane.admin()));
        String runtime = plane.key("{\"runtime\":\"prod\"}").path("key").textValue();
        secrets.add(runtime);
        while (secrets.size() < 100) {
            String jo = plane.id(plane.call("POST", "/api/users", plane.admin(),
                    "{\"name\":\"Jo\",\"email\":\"jo" + secrets.size() + "@acme.test\"}"));
            String key = plane.key("{\"user\":\"" + jo + "\"}").path("key").textValue();
            String token = plane.token(key, "prod").path("token").textValue();
            assertThat(plane.resolve(runtime, token).path("state").textValue()).isEqualTo("known");
            secrets.addAll(List.of(key, token));
        }
        assertThat(plane.call("POST", "/api/token-keys", plane.admin(), "{}").statusCode()).isEqualTo(201);
        ControlPlane.backup(folder, folder.resolve("backup.db")).block(TIME);

        assertThat(folder.resolve("directory.db-wal")).isNotEmptyFile();
        holdsNone(secrets);
        stop();
        holdsNone(secrets);
        plane = ControlPlaneKit.start(folder, plane.admin());
    }

    private void holdsNone(List<String> secrets) throws IOException {
        byte[] wrapping = Base64.getDecoder().decode(Files.readString(folder.resolve("token.key")).strip());
        for (String name : List.of("directory.db", "directory.db-wal", "backup.db", "audit-changes.log")) {
            if (Files.notExists(folder.resolve(name))) {
                continue;
            }
            String content = Files.readString(folder.resolve(name), StandardCharsets.ISO_8859_1);
            assertThat(content).as(name).isNotEmpty();
            for (String secret : secrets) {
                String part = secret.substring(secret.lastIndexOf('.') + 1);
                assertThat(content.contains(part)).as(name).isFalse();
                byte[] raw = Base64.getUrlDecoder().decode(part);
                assertThat(content.contains(new String(raw, StandardCharsets.ISO_8859_1))).as(name).isFalse();
                assertThat(content.contains(HexFormat.of().formatHex(raw))).as(name).isFalse();
            }
            assertThat(content.contains(new String(wrapping, StandardCharsets.ISO_8859_1))).as(name)
                    .isFalse();
            assertThat(content).doesNotContain(Base64.getEncoder().encodeToString(wrapping));
        }
    }

    /** Every value of every table, as the bytes and texts that it may stand for, of lengths that sign. */
    private static List<byte[]> everythingIn(Path database) throws SQLException {
        List<byte[]> found = new ArrayList<>();
        try (Connection connection = SqliteDatabase.connect(database);
                Statement names = connection.createStatement();
                ResultSet tables = names
                        .executeQuery("SELECT name FROM sqlite_schema WHERE type = 'table'")) {
            while (tables.next()) {
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery("SELECT * FROM " + tables.getString(1))) {
                    ResultSetMetaData columns = row.getMetaData();
                    while (row.next()) {
                        for (int i = 1; i <= columns.getColumnCount(); i++) {
                            addAll(found, row.getObject(i));
                        }
                    }
                }
            }
        }
        return found;
    }

    private static void addAll(List<byte[]> found, @Nullable Object value) {
        List<byte[]> raw = new ArrayList<>();
        if (value instanceof byte[] bytes) {
            raw.add(bytes);
        } else if (value != null) {
            String text = value.toString();
            raw.add(text.getBytes(StandardCharsets.UTF_8));
            try {
                raw.add(Base64.getDecoder().decode(text));
            } catch (IllegalArgumentException e) {
                // no base64
            }
        }
        for (byte[] bytes : raw) {
            found.add(Arrays.copyOf(bytes, 32));
            for (int i = 0; i + 32 <= bytes.length; i++) {
                found.add(Arrays.copyOfRange(bytes, i, i + 32));
            }
        }
    }

    private String newestKid() throws IOException, InterruptedException {
        JsonNode items = plane.json(plane.call("GET", "/api/token-keys", plane.admin(), "")).path("items");
        return items.path(items.size() - 1).path("kid").textValue();
    }

    private static String forged(SignedJWT known, String kid, byte[] secret)
            throws ParseException, JOSEException {
        var jwt = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.HS256).keyID(kid).build(),
                new JWTClaimsSet.Builder(known.getJWTClaimsSet()).issueTime(Date.from(Instant.now()))
                        .expirationTime(Date.from(Instant.now().plusSeconds(600)))
                        .build());
        jwt.sign(new MACSigner(secret));
        return jwt.serialize();
    }
}
