package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllowedHostsTest {
    private final AllowedHosts hosts = AllowedHosts.of(List.of("Router.argo.svc", "culvert_router."));

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "127.0.0.1:9090", "10.1.2.3:80", "[::1]", "[::1]:9090", "localhost",
            "LOCALHOST:9090", "localhost.:1", "router.argo.svc", "Router.Argo.SVC.:9090", "culvert_router",
            "127.0.0.1:"})
    void addressesLocalhostAndListedNamesAreServed(String host) {
        assertThat(hosts.has(host)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "evil.example", "evil.example:9090", "127.0.0.1.evil.example",
            "127.0.0.1:80.evil.example", "localhost.evil.example", "x.router.argo.svc", "[evil.example]",
            "[::1", "::1", "127.0.0.1@evil.example", "router.argo.svc..", "127.0.0.1:80:80", "0x7f.1", " "})
    void everyOtherHostIsNot(String host) {
        assertThat(hosts.has(host)).isFalse();
    }

    @Test
    void aRequestWithoutHostIsNotServed() {
        assertThat(hosts.has(null)).isFalse();
    }

    @Test
    void aNameIsADnsNameWithoutPort() {
        assertThatThrownBy(() -> AllowedHosts.of(List.of("router:9090")))
                .hasMessage("router:9090 (expected: a DNS name without port, as gateway.example.com)");
        assertThatThrownBy(() -> AllowedHosts.of(List.of("*.example.com")))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
