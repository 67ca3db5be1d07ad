package dev.culvert.helm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigErrors;
import dev.culvert.launcher.run.PartConfig;
import dev.culvert.router.RouterConfig;
import dev.culvert.server.ServerConfig;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The parts accept the configuration files that the chart renders. */
class ChartConfigurationTest {
    private static final Map<String, Class<? extends Record>> TYPES = Map.of("client", ClientConfig.class,
            "router", RouterConfig.class, "app-proxy", AppProxyConfig.class, "server", ServerConfig.class);

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void everyPartAcceptsItsFile(Mode mode) throws IOException {
        Map<String, Path> files = files(Chart.render(mode.tree()));

        assertThat(files.keySet()).containsExactlyInAnyOrderElementsOf(mode.parts());
        for (var file : files.entrySet()) {
            assertThat(load(file.getKey(), file.getValue()).warnings()).isEmpty();
        }
    }

    @Test
    void aClientOfTheChartWaits() throws IOException {
        ConfigBinding client = load("client", client(Mode.TUNNEL.tree()));

        assertThat(client.value(ClientConfig.class).standby().takesOver()).isFalse();
    }

    @Test
    void configWinsAndIsAsStrict() throws IOException {
        Map<String, Object> values = Mode.TUNNEL.tree();
        Yaml.set(values, List.of("tunnel-client", "config"), Map.of("connections", 3, "standby", "takeOver"));

        ConfigBinding client = load("client", client(values));

        assertThat(client.value(ClientConfig.class).connections()).isEqualTo(3);
        assertThat(client.value(ClientConfig.class).standby().takesOver()).isTrue();
        Yaml.set(values, List.of("tunnel-client", "config"), Map.of("conections", 3));
        Path wrong = client(values);
        assertThatThrownBy(() -> load("client", wrong)).isInstanceOf(ConfigErrors.class)
                .hasMessageContaining("conections");
    }

    private static ConfigBinding load(String part, Path file) {
        return new PartConfig(Objects.requireNonNull(TYPES.get(part))).load(file, Map.of(), Map.of());
    }

    private Path client(Map<String, Object> values) throws IOException {
        return Objects.requireNonNull(files(Chart.render(values)).get("client"));
    }

    private Map<String, Path> files(String rendered) throws IOException {
        var files = new HashMap<String, Path>();
        for (String document : Chart.documents(rendered)) {
            if (document.contains("kind: ConfigMap")) {
                ConfigMap map = io.fabric8.kubernetes.client.utils.Serialization.unmarshal(document,
                        ConfigMap.class);
                for (var entry : map.getData().entrySet()) {
                    files.put(entry.getKey().replace(".yaml", ""),
                            Files.writeString(folder.resolve(entry.getKey()), entry.getValue()));
                }
            }
        }
        return files;
    }
}
