package dev.culvert.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {
    @ParameterizedTest
    @CsvSource({"127.0.0.1:1,true", "127.9.9.9:1,true", "[::1]:1,true", "LocalHost:1,true", "0.0.0.0:1,false",
            "[::]:1,false", "10.0.0.1:1,false", "localhost.example:1,false"})
    void loopbackIsAnAddressOrLocalhost(String address, boolean loopback) {
        assertThat(HostPort.parse(address).isLoopback()).isEqualTo(loopback);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a:65536", "a:99999", "a:100000"})
    void aPortOutOfRangeIsTold(String text) {
        assertThatThrownBy(() -> HostPort.parse(text))
                .hasMessage(text + " (expected: host:port, a port of 1..65535, or 0 for a free one)");
    }
}
