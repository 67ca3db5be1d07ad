package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.route.SigningSecrets;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretFilesTest {
    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("secret");
    }

    private List<String> held() {
        return new SecretFiles(() -> Set.of(file)).in(file)
                .list()
                .stream()
                .map(secret -> new String(secret, StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void eachLineIsASecretAndTheFirstEightCount() throws Exception {
        Files.writeString(file, " one \n\n\ntwo\r\n");
        assertThat(held()).containsExactly("one", "two");

        Files.writeString(file, "x\n".repeat(9));
        assertThat(held()).hasSize(8);
    }

    @Test
    void whatCantBeReadHoldsNone() throws Exception {
        assertThat(held()).as("missing").isEmpty();
        Files.writeString(file, "\n \n");
        assertThat(held()).as("empty").isEmpty();
        Files.writeString(file, "good\n" + "x".repeat(SigningSecrets.MAX_BYTES + 1));
        assertThat(held()).as("too long a line").isEmpty();
        Files.writeString(file, "good\n" + "\n".repeat(64 << 10));
        assertThat(held()).as("too large").isEmpty();
        Files.write(file, new byte[]{(byte) 0xff, '\n'});
        assertThat(held()).as("no UTF-8").isEmpty();
    }

    @Test
    void aChangeIsSeenAndWhatStaysIsNone() throws Exception {
        Files.writeString(file, "one");
        SecretFiles secrets = new SecretFiles(() -> Set.of(file));

        assertThat(secrets.lookAgain()).isFalse();
        Files.writeString(file, "two\n");
        assertThat(secrets.lookAgain()).isTrue();
        Files.writeString(file, "two");
        assertThat(secrets.lookAgain()).isFalse();
        Files.delete(file);
        assertThat(secrets.lookAgain()).isTrue();
        assertThat(secrets.in(file).isEmpty()).isTrue();
        assertThat(secrets.lookAgain()).isFalse();
    }

    @Test
    void theyAreNotPrinted() throws Exception {
        Files.writeString(file, "hush");

        assertThat(new SecretFiles(() -> Set.of(file))).hasToString("secrets of 1 files");
    }
}
