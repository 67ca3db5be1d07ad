package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jwt.SignedJWT;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.StoreSettings;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.postgres.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two control planes with one database and one file of the keys that wrap. */
class SharedTokenKeysIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private final DatabaseServer server = TestServer.database();
    private ControlPlaneKit one;
    private ControlPlaneKit two;

    @BeforeEach
    void start() throws IOException {
        one = ControlPlaneKit.start(config("one", folder.resolve("token.key")));
        Files.createDirectories(folder.resolve("two"));
        Files.copy(folder.resolve("one/admin.key"), folder.resolve("two/admin.key"));
        two = ControlPlaneKit.start(config("two", folder.resolve("token.key")));
    }

    @AfterEach
    void stop() {
        one.close();
        two.close();
    }

    private ControlPlaneConfig config(String name, Path tokenKey) {
        StoreSettings store = TestStore.at(server);
        ControlPlaneConfig own = ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder.resolve(name),
                store, ControlPlaneConfig.Nudge.none());
        return new ControlPlaneConfig(own.listen(), own.tls(), own.dataDir(), own.store(), own.adminKeyFile(),
                own.firstAccount(), new ControlPlaneConfig.TokenKeys(tokenKey), own.platform(), own.nudge(),
                own.handlers(), own.limits(), own.trustedProxies());
    }

    @Test
    void aRotationAtOneRefusesNoTokenAtTheOther() throws Exception {
        String runtime = one.key("{\"runtime\":\"prod\"}").path("key").textValue();
        List<String> tokens = new ArrayList<>();
        Set<String> kids = new HashSet<>();
        assertThat(one.call("POST", "/api/token-keys", one.admin(), "{}").statusCode()).isEqualTo(201);
        int sinceNew = 0;
        for (int i = 0; sinceNew < 20; i++) {
            ControlPlaneKit issuer = i % 2 == 0 ? one : two;
            ControlPlaneKit verifier = i % 2 == 0 ? two : one;
            String token = issuer.token(one.admin(), "prod").path("token").textValue();
            kids.add(SignedJWT.parse(token).getHeader().getKeyID());
            tokens.add(token);
            sinceNew += kids.size() > 1 ? 1 : 0;
            assertThat(verifier.resolve(runtime, token).path("state").textValue()).isEqualTo("known");
            assertThat(verifier.resolve(runtime, tokens.getFirst()).path("state").textValue())
                    .isEqualTo("known");
        }
        assertThat(kids).hasSize(2);
    }

    @Test
    void whatOneChangesIsInForceAtTheOther() throws Exception {
        String runtime = one.key("{\"runtime\":\"prod\"}").path("key").textValue();
        String jo = one.id(one.call("POST", "/api/users", one.admin(),
                "{\"name\":\"Jo\",\"email\":\"jo@acme.test\"}"));
        JsonNode key = one.key("{\"user\":\"" + jo + "\"}");
        String text = key.path("key").textValue();
        String token = two.token(text, "prod").path("token").textValue();
        assertThat(isAllowed(two, text)).isFalse();

        String rule = one.id(one.call("POST", "/api/abac", one.admin(),
                "{\"entity\":\"workflows\",\"actions\":[\"VIEW\"],\"users\":[\"" + jo + "\"]}"));
        Awaitility.await().atMost(TIME).until(() -> isAllowed(two, text));
        assertThat(isAllowed(one, text)).isTrue();
        one.call("DELETE", "/api/abac/" + rule, one.admin(), "");
        Awaitility.await().atMost(TIME).until(() -> !isAllowed(two, text));

        assertThat(two.resolve(runtime, token).path("state").textValue()).isEqualTo("known");
        one.call("DELETE", "/api/keys/" + key.path("id").textValue(), one.admin(), "");
        assertThat(two.resolve(runtime, token).path("state").textValue()).isEqualTo("unknown");
    }

    @Test
    void aProcessWithoutTheFileDoesNotStartAndEndsNoToken() throws Exception {
        String runtime = one.key("{\"runtime\":\"prod\"}").path("key").textValue();
        String token = one.token(one.admin(), "prod").path("token").textValue();
        Path other = folder.resolve("three/token.key");

        assertThatThrownBy(() -> ControlPlane.start(config("three", other)).block(TIME))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("tokenKeys.file")
                .hasMessageContaining("have the same file");

        assertThat(other).doesNotExist();
        assertThat(two.resolve(runtime, token).path("state").textValue()).isEqualTo("known");
    }

    private static boolean isAllowed(ControlPlaneKit plane, String key)
            throws IOException, InterruptedException {
        return plane.json(plane.call("POST", "/api/abac/decide", key,
                "{\"entity\":\"workflows\",\"action\":\"VIEW\"}")).path("isValid").booleanValue();
    }
}
