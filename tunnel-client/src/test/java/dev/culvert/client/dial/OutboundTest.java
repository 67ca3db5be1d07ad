package dev.culvert.client.dial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.client.dial.OutboundProxy.Kind;
import dev.culvert.config.ConfigException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OutboundTest {
    private static @Nullable OutboundProxy proxy(Map<String, String> environment, String host) {
        return Outbound.of(null, environment).proxyFor(host, 7443);
    }

    private static OutboundProxy some(Map<String, String> environment) {
        return Objects.requireNonNull(proxy(environment, "tunnels.example.com"));
    }

    @ParameterizedTest
    @CsvSource({"http://proxy.corp:3128, HTTP, proxy.corp:3128", "proxy.corp:3128, HTTP, proxy.corp:3128",
            "http://proxy.corp, HTTP, proxy.corp:80", "socks5://proxy.corp, SOCKS5, proxy.corp:1080",
            "socks5h://[fd00::1]:9, SOCKS5, [fd00::1]:9", "HTTP://u:p@proxy.corp:1/, HTTP, proxy.corp:1"})
    void theEnvironmentNamesTheProxy(String value, Kind kind, String address) {
        OutboundProxy proxy = some(Map.of("HTTPS_PROXY", value));

        assertThat(proxy.kind()).isEqualTo(kind);
        assertThat(proxy.address()).hasToString(address);
        assertThat(proxy.setBy()).isEqualTo("HTTPS_PROXY");
    }

    @Test
    void theVariableInLowerCaseWins() {
        assertThat(some(Map.of("https_proxy", "a:1", "HTTPS_PROXY", "b:2")).address()).hasToString("a:1");
        assertThat(some(Map.of("https_proxy", "", "HTTPS_PROXY", "b:2")).address()).hasToString("b:2");
    }

    @Test
    void userAndPasswordAreDecodedAndNeverPrinted() {
        OutboundProxy proxy = some(Map.of("HTTPS_PROXY", "http://us%40er:s%3Aec+ret@proxy.corp:3128"));

        assertThat(proxy.user()).isEqualTo("us@er");
        assertThat(proxy.password()).isEqualTo("s:ec+ret");
        assertThat(proxy).hasToString("http://proxy.corp:3128 (HTTPS_PROXY)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://u:secret@proxy:1", "ftp://u:secret@proxy", "http://u:secret@",
            "http://u:secret @proxy",
            "http://u:secret@proxy:99999"})
    void aVariableThatCanNotBeUsedIsNamedWithoutItsValue(String value) {
        assertThatThrownBy(() -> some(Map.of("HTTPS_PROXY", value))).isInstanceOf(ConfigException.class)
                .hasMessageContaining("HTTPS_PROXY")
                .satisfies(e -> assertThat(e.toString()).doesNotContain("secret"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "::1"})
    void theEnvironmentsProxySparesLoopback(String host) {
        assertThat(proxy(Map.of("HTTPS_PROXY", "proxy:1"), host)).isNull();
    }

    @Test
    void noProxyMakesAnException() {
        Map<String, String> environment = Map.of("HTTPS_PROXY", "proxy:1", "no_proxy", "inner.example");

        assertThat(proxy(environment, "a.inner.example")).isNull();
        assertThat(proxy(environment, "outer.example")).isNotNull();
    }

    @Test
    void theConfiguredProxyWinsOverTheEnvironmentAndCountsForLoopback() {
        var config = new ProxyConfig(URI.create("socks5://me@proxy.corp"), Path.of("password"),
                List.of("inner.example"));
        Outbound outbound = Outbound.of(config, Map.of("HTTPS_PROXY", "other:1", "NO_PROXY", "*"));

        assertThat(outbound.proxyFor("127.0.0.1", 1)).hasToString("socks5://proxy.corp:1080 (proxy.url)");
        assertThat(outbound.proxyFor("inner.example", 1)).isNull();
    }

    @Test
    void withoutAnyProxyTheWayIsDirect() {
        assertThat(proxy(Map.of(), "tunnels.example.com")).isNull();
    }

    @Test
    void aPasswordInAFilesUrlIsRefused() {
        assertThatThrownBy(() -> new ProxyConfig(URI.create("http://u:secret@proxy:1"), null, List.of()))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("proxy.passwordFile")
                .satisfies(e -> assertThat(e.toString()).doesNotContain("secret"));
        assertThatThrownBy(() -> new ProxyConfig(URI.create("http://proxy:1"), Path.of("p"), List.of()))
                .isInstanceOf(ConfigException.class);
    }
}
