package dev.culvert.platform.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which servers are reached without TLS. */
class StoreSettingsTest {
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:5432", "localhost", "[::1]:5432", "127.0.0.1:1,127.0.0.2"})
    void aServerOfThisMachineNeedsNoTls(String hosts) {
        assertThat(StoreSettings.postgres("postgresql://" + hosts + "/culvert", "culvert").server().isPlain())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"db1.example.com", "10.0.0.1:5432", "127.0.0.1,db1.example.com",
            "localhost.example.com", "127.0.0.1.example.com"})
    void anotherMachinesServerNeedsTls(String hosts) {
        assertThatThrownBy(() -> StoreSettings.postgres("postgresql://" + hosts + "/culvert", "culvert"))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("tls");
    }
}
