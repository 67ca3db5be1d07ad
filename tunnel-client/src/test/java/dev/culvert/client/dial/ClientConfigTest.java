package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigErrors;
import dev.culvert.config.HostPort;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientConfigTest {
    @Test
    void oneAddressIsEnough() {
        ClientConfig config = ConfigBinder.bind(ClientConfig.class,
                Map.of("server", "wss://tunnels.example.com:7443"));

        assertThat(config.server()).containsExactly(URI.create("wss://tunnels.example.com:7443/tunnel/v1"));
        assertThat(config.identityDir()).isEqualTo(Path.of("/var/lib/culvert-client"));
        assertThat(config.health().listen()).isEqualTo(HostPort.parse("127.0.0.1:8081"));
        assertThat(config.connections()).isEqualTo(2);
        assertThat(config.sessionLife()).isEqualTo(Duration.ofHours(2));
        assertThat(config.to()).isNull();
        assertThat(config.serverCa()).isNull();
    }

    @Test
    void pathIsImpliedOnlyWhereNoneIsGiven() {
        ClientConfig config = ConfigBinder.bind(ClientConfig.class,
                Map.of("server", "wss://a,wss://b/,wss://c/proxied/tunnel/v1"));

        assertThat(config.server()).map(URI::toString)
                .containsExactly("wss://a/tunnel/v1", "wss://b/tunnel/v1",
                        "wss://c/proxied/tunnel/v1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ws://a", "https://a", "wss://u:p@a", "wss://a?x", "wss://a#x", "wss://a:0",
            "a:7443"})
    void addressThatIsNoTunnelIsRefused(String address) {
        assertRefused("server", Map.of("server", address));
    }

    @Test
    void addressIsRequired() {
        assertRefused("server", Map.of());
    }

    @Test
    void oneWayForStreamsAtMost() {
        assertRefused("to", Map.of("server", "wss://a", "to", "http://a:1", "routerUrl", "http://b:1"));
        assertRefused("to",
                Map.of("server", "wss://a", "to", "http://a:1", "router.resolve", "a=127.0.0.1:1"));
        assertRefused("to",
                Map.of("server", "wss://a", "routerUrl", "http://a:1", "router.resolve", "a=127.0.0.1:1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ftp://a", "http://a/path", "http://a?x", "http://u@a"})
    void upstreamIsAnOrigin(String upstream) {
        assertRefused("to", Map.of("server", "wss://a", "to", upstream));
        assertRefused("routerUrl", Map.of("server", "wss://a", "routerUrl", upstream));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "5", "-1"})
    void connectionsHaveARange(String connections) {
        assertRefused("connections", Map.of("server", "wss://a", "connections", connections));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0s", "999ms", "25h"})
    void lifeOfASessionHasARange(String life) {
        assertRefused("sessionLife", Map.of("server", "wss://a", "sessionLife", life));
    }

    private static void assertRefused(String key, Map<String, String> values) {
        assertThatThrownBy(() -> ConfigBinder.bind(ClientConfig.class, values))
                .isInstanceOf(ConfigErrors.class)
                .hasMessageContaining(key + ": ");
    }
}
