package dev.culvert.launcher.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.launcher.run.CommandException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheCommandTest {
    private static final Path JAVA = Path.of(System.getProperty("java.home"));

    @TempDir
    Path home;

    @Test
    void anInstallationHasJarsAndArguments() throws IOException {
        assertThatThrownBy(() -> Installation.of(null, JAVA)).isInstanceOf(CommandException.class)
                .hasMessageContaining("the script culvert sets it");
        assertThatThrownBy(() -> Installation.of(home.toString(), JAVA)).isInstanceOf(CommandException.class)
                .hasMessageContaining(home.toString());
        folders("lib", "args");

        assertThat(Installation.of(home.toString(), JAVA)
                .command("client", "-XX:AOTCacheOutput=x", "client", "--to", "y"))
                .isEqualTo(
                        List.of(JAVA + "/bin/java", "@" + home + "/args/client.args", "-XX:AOTCacheOutput=x",
                                "-Dculvert.home=" + home, "-cp", home + "/lib/*",
                                "dev.culvert.launcher.Trainee",
                                "client",
                                "--to", "y"));
    }

    @Test
    void anotherRunTimeThanTheInstallationsOwnIsRefused() throws IOException {
        folders("lib", "args", "runtime/bin");
        Files.createFile(home.resolve("runtime/bin/java")).toFile().setExecutable(true);

        assertThatThrownBy(() -> Installation.of(home.toString(), JAVA)).isInstanceOf(CommandException.class)
                .hasMessage(
                        "this is the run-time " + JAVA + ", but " + home + " starts with its own (expected: "
                                + home + "/bin/culvert cache)");
        assertThat(Installation.of(home.toString(), home.resolve("runtime")).home()).isEqualTo(home);
    }

    private void folders(String... names) throws IOException {
        for (String name : names) {
            Files.createDirectories(home.resolve(name));
        }
    }
}
