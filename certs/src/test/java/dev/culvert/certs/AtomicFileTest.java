package dev.culvert.certs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
    @TempDir
    Path folder;

    @Test
    void aFileIsMadeWholeForItsOwnerAndNothingIsLeftBeside() throws IOException {
        Path file = folder.resolve("secret");

        assertThat(AtomicFile.create(file, bytes("one"), "rw-------")).isTrue();

        assertThat(file).hasContent("one");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
        assertAlone(file);
    }

    @Test
    void whatIsThereIsNotMadeAnew() throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), "one");

        assertThat(AtomicFile.create(file, bytes("two"), "rw-------")).isFalse();

        assertThat(file).hasContent("one");
        assertAlone(file);
    }

    @Test
    void aReservedFileTakesThePlaceOfAnother() throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), "one");
        Path reserved = Files.writeString(folder.resolve("reserved"), "longer than the other");

        AtomicFile.replace(reserved, file, bytes("two"));

        assertThat(file).hasContent("two");
        assertAlone(file);
    }

    private void assertAlone(Path file) throws IOException {
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).containsExactly(file);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
