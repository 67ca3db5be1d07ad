package dev.culvert.launcher.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.ConfigBinding;
import dev.culvert.router.RouterConfig;
import dev.culvert.server.ServerConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PartConfigTest {
    private static final Map<String, String> SERVER = Map.of("--edge-domain", "x.test",
            "--edge-tls-certificate", "c", "--edge-tls-key", "k", "--tunnel-tls-certificate", "c",
            "--tunnel-tls-key", "k", "--tunnel-ca-certificate", "c", "--tunnel-ca-key", "k", "--data-dir",
            "d");

    @Test
    void aCommandsVariablesSetNoKeyOfAPart() {
        var exported = Map.of("CULVERT_ADMIN", "https://admin.example.com", "CULVERT_ADMIN_CA", "ca.crt",
                "CULVERT_OUTPUT", "json", "CULVERT_ADMIN_TOKEN_FILE", "production.token");

        ConfigBinding server = new PartConfig(ServerConfig.class).load(null, exported, SERVER);
        ConfigBinding client = new PartConfig(ClientConfig.class).load(null, exported,
                Map.of("--server", "wss://x.test:1", "--identity-dir", "d", "--to", "http://x.test"));

        assertThat(server.value(ServerConfig.class).admin().tokenFile()).isEqualTo(Path.of("admin.token"));
        assertThat(server.warnings())
                .containsExactly("CULVERT_ADMIN_TOKEN_FILE does not set admin.tokenFile of this part:"
                        + " ignored (expected: CULVERT_SERVER_ADMIN_TOKEN_FILE)");
        assertThat(client.warnings()).isEmpty();
    }

    @Test
    void eachPartsTokenFileHasItsOwnVariable() {
        var environment = new HashMap<>(Map.of("CULVERT_SERVER_ADMIN_TOKEN_FILE", "s.token"));

        ConfigBinding server = new PartConfig(ServerConfig.class).load(null, environment, SERVER);
        environment = new HashMap<>(Map.of("CULVERT_ROUTER_ADMIN_TOKEN_FILE", "r.token",
                "CULVERT_ADMIN_LISTEN", "127.0.0.1:9092"));
        ConfigBinding router = new PartConfig(RouterConfig.class).load(null, environment,
                Map.of("--data-dir", "d"));

        assertThat(server.value(ServerConfig.class).admin().tokenFile()).isEqualTo(Path.of("s.token"));
        assertThat(router.effective()).extracting(e -> e.key() + "=" + e.value() + " " + e.origin())
                .contains("admin.tokenFile=r.token CULVERT_ROUTER_ADMIN_TOKEN_FILE");
        assertThat(server.warnings()).isEmpty();
        assertThat(router.warnings()).isEmpty();
    }
}
