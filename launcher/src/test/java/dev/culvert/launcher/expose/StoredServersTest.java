package dev.culvert.launcher.expose;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StoredServersTest {
    @Test
    void theFolderIsThatOfTheEnvironment() {
        assertThat(StoredServers.ofUser(Map.of("XDG_DATA_HOME", "/data", "HOME", "/home/a")).root())
                .isEqualTo(Path.of("/data/culvert"));
        assertThat(StoredServers.ofUser(Map.of("XDG_DATA_HOME", "data", "HOME", "/home/a")).root())
                .isEqualTo(Path.of("/home/a/.local/share/culvert"));
        assertThat(StoredServers.ofUser(Map.of()).root())
                .isEqualTo(Path.of(System.getProperty("user.home"), ".local/share/culvert"));
    }
}
