package dev.culvert.image.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartArgumentsTest {
    @TempDir
    Path home;

    @BeforeEach
    void takeTheArgumentFilesOfTheLauncher() throws IOException {
        Path args = Files.createDirectories(home.resolve("args"));
        for (String part : List.of("server", "client", "cli", "demo", "small")) {
            Files.copy(Path.of("../../launcher/src/main/args", part + ".args"), args.resolve(part + ".args"));
        }
    }

    @Test
    void aPartGetsTheArgumentsOfItsFile() throws IOException {
        PartArguments client = arguments(Map.of(), "client", "--config", "client.yaml");

        assertThat(client.batch()).isTrue();
        assertThat(client.command()).startsWith(home + "/runtime/bin/java", "-XX:+UseSerialGC", "-Xms16m")
                .contains("-XX:MaxRAMPercentage=33")
                .noneMatch(word -> word.startsWith("#"))
                .endsWith("-cp", home + "/lib/*", "dev.culvert.launcher.Main", "client", "--config",
                        "client.yaml");
    }

    @Test
    void aSmallContainerGetsSmallSizes() throws IOException {
        List<String> words = List.of("client", "--config", "client.yaml");

        assertThat(PartArguments.of(home, words, Map.of(), 255L << 20).command())
                .contains("-Xmx32m", "-XX:MaxDirectMemorySize=24m")
                .doesNotContain("-XX:MaxRAMPercentage=33");
        assertThat(PartArguments.of(home, words, Map.of("CULVERT_JAVA_OPTS", "-Xmx48m"), 128L << 20)
                .command()).contains("-Xmx48m").doesNotContain("-Xmx32m");
        assertThat(PartArguments.warning(words, 127L << 20))
                .contains("127 MiB", "client works with is 128 MiB");
        assertThat(PartArguments.warning(words, 128L << 20)).isEmpty();
        assertThat(PartArguments.warning(List.of("server"), 128L << 20)).contains("256 MiB");
        assertThat(PartArguments.warning(List.of("client", "status"), 1)).isEmpty();
    }

    @Test
    void theOperatorsOptionsWin() throws IOException {
        PartArguments server = arguments(Map.of("CULVERT_JAVA_OPTS", "-XX:+UseParallelGC  -Xmx1g",
                "CULVERT_SCHEDULING", "other"), "server");

        assertThat(server.batch()).isFalse();
        assertThat(server.command()).contains("-XX:+UseParallelGC", "-Xmx1g")
                .doesNotContain("-XX:+UseG1GC", "-XX:G1ReservePercent=25", "-Xms64m",
                        "-XX:MaxRAMPercentage=33");
    }

    @Test
    void shortCommandsHaveTheirOwn() throws IOException {
        for (String[] words : new String[][]{{}, {"--version"}, {"client", "status"}, {"server", "backup"}}) {
            assertThat(arguments(Map.of(), words).command()).contains("-XX:TieredStopAtLevel=1");
        }
    }

    @Test
    void onlyTheDemoHasStandIns() throws IOException {
        assertThat(arguments(Map.of(), "demo").command()).contains(home + "/lib/*:" + home + "/lib/demo/*");
        assertThat(arguments(Map.of("CULVERT_CLASS_PATH", "/more/*"), "server").command())
                .contains(home + "/lib/*:/more/*");
    }

    private PartArguments arguments(Map<String, String> environment, String... words) throws IOException {
        return PartArguments.of(home, List.of(words), environment, 16L << 30);
    }
}
