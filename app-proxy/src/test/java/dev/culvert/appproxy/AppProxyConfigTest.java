package dev.culvert.appproxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigErrors;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AppProxyConfigTest {
    @Test
    void servesInfoAloneByDefault() {
        AppProxyConfig config = ConfigBinder.bind(AppProxyConfig.class, Map.of());

        assertThat(config.listen()).hasToString("0.0.0.0:3017");
        assertThat(config.runtime()).isNull();
        assertThat(config.handlers().served()).isEqualTo(Map.of("info", new AppProxyConfig.Info()));
    }

    @Test
    void gitIsReadOnlyByDefault() {
        AppProxyConfig config = ConfigBinder.bind(AppProxyConfig.class,
                Map.of("handlers.git.repositories", "/srv/git"));

        assertThat(config.handlers().info()).isNull();
        assertThat(config.handlers().git()).isEqualTo(AppProxyConfig.Git.of(Path.of("/srv/git")))
                .isEqualTo(
                        new AppProxyConfig.Git(Path.of("/srv/git"), false, false, 32, Duration.ofHours(1)));
    }

    @Test
    void boundsAreChecked() {
        assertThatThrownBy(() -> ConfigBinder.bind(AppProxyConfig.class,
                Map.of("handlers.git.repositories", "/srv/git", "handlers.git.maxProcesses", "0")))
                .isInstanceOf(ConfigErrors.class)
                .hasMessageContaining("handlers.git.maxProcesses");
        assertThatThrownBy(() -> ConfigBinder.bind(AppProxyConfig.class,
                Map.of("handlers.git.repositories", "/srv/git", "handlers.git.maxDuration", "10ms")))
                .hasMessageContaining("handlers.git.maxDuration");
    }
}
