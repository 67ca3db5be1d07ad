package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.SettingInfo;
import dev.culvert.launcher.run.PartConfig;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.router.RouterConfig;
import dev.culvert.server.ServerConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keeps docs/config.md in step with the records; {@code -Dculvert.docs.write=true} writes the tables anew. */
class ConfigDocumentTest {
    private static final Path DOCUMENT = Path.of("..", "docs", "config.md");

    record Part(String name, Class<? extends Record> type) {}

    static List<Part> parts() {
        return List.of(new Part("server", ServerConfig.class),
                new Part("client", ClientConfig.class), new Part("router", RouterConfig.class),
                new Part("app-proxy", AppProxyConfig.class),
                new Part("control-plane", ControlPlaneConfig.class));
    }

    @ParameterizedTest
    @MethodSource("parts")
    void theTableOfAPartListsItsSettings(Part part) throws IOException {
        String document = Files.readString(DOCUMENT);
        String begin = "<!-- settings of " + part.name() + " -->\n";
        int start = document.indexOf(begin) + begin.length();
        int end = document.indexOf("<!-- end -->", start);
        assertThat(document).contains(begin);

        String table = table(part.type());

        if (Boolean.getBoolean("culvert.docs.write")) {
            Files.writeString(DOCUMENT, document.substring(0, start) + table + document.substring(end));
        } else {
            assertThat(document.substring(start, end)).isEqualTo(table);
        }
    }

    private static String table(Class<? extends Record> type) {
        return new PartConfig(type).settings()
                .stream()
                .map(ConfigDocumentTest::row)
                .collect(Collectors.joining("\n", "| key | what | accepts | default |\n|---|---|---|---|\n",
                        "\n"));
    }

    private static String row(SettingInfo setting) {
        String fallback = setting.byDefault().isEmpty()
                ? setting.required() ? required(setting) : "–"
                : "`" + setting.byDefault() + "`";
        String only = setting.fileOnly()
                ? " (file only)"
                : setting.ownVariable().isEmpty() ? "" : " (variable `" + setting.variable() + "`)";
        return "| `" + setting.key() + "`" + only + " | " + escaped(setting.doc()) + " | "
                + escaped(setting.type())
                + " | " + fallback + " |";
    }

    private static String required(SettingInfo setting) {
        return setting.group().isEmpty() ? "required" : "required with `" + setting.group() + "`";
    }

    private static String escaped(String text) {
        return text.replace("|", "\\|").replace("<", "&lt;");
    }
}
