package dev.culvert.platform.runtimes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RuntimesSettingsTest {
    private static final Duration DAY = Duration.ofDays(1);

    @Test
    void whatTheTunnelServerIsNeededForIsGivenWithItOnly() {
        assertThatCode(() -> settings(null, null, null)).doesNotThrowAnyException();
        assertThatThrownBy(() -> settings(Path.of("ca.crt"), null, null)).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> settings(null, "t.test", null)).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> settings(null, null, "http://a.test")).isInstanceOf(ConfigException.class);
        assertThat(
                new RuntimesSettings("https://a.test", Path.of("t"), null, Path.of("ca.crt"), "t.test", DAY,
                        null).publicUrl("acme", "prod"))
                .isEqualTo("https://acme-prod.t.test");
    }

    private static RuntimesSettings settings(@Nullable Path authority, @Nullable String domain,
            @Nullable String hosted) {
        return new RuntimesSettings(null, null, null, authority, domain, DAY, hosted);
    }
}
