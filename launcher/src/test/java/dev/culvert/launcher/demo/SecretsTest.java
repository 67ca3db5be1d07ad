package dev.culvert.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretsTest {
    @TempDir
    private Path folder;

    @Test
    void aTokenIsReadableByItsOwnerOnly() throws IOException {
        Path file = Secrets.write(folder.resolve("demo.token"), "t0ken");

        assertThat(file).hasContent("t0ken");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    }
}
