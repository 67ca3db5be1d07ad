package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AllowedOriginsTest {
    private final AllowedOrigins origins = new AllowedOrigins(List.of("https://*.tunnels.test",
            "https://edge.test:8443", "http://127.0.0.1:*"));

    @ParameterizedTest
    @CsvSource({"https://a.tunnels.test", "https://a.tunnels.test:443", "https://edge.test:8443",
            "http://127.0.0.1", "http://127.0.0.1:9"})
    void coversItsHostsAtTheirPorts(String url) {
        assertThat(origins.origin(url)).isEqualTo(url);
    }

    @ParameterizedTest
    @CsvSource({"https://a.tunnels.test:8443", "https://tunnels.test", "https://edge.test",
            "http://edge.test:8443",
            "https://edge.test:84430", "http://127.0.0.1@x.test", "http://127.0.0.1/x",
            "https://eviltunnels.test",
            "http://a.tunnels.test", "http://127.0.0.1.evil.test"})
    void coversNoOtherServiceOfAHost(String url) {
        assertThat(origins.origin(url)).isNull();
    }
}
