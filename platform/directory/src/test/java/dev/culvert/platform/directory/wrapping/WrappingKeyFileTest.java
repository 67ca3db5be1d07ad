package dev.culvert.platform.directory.wrapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.platform.directory.wrapping.KeyWrapping.Wrapped;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WrappingKeyFileTest {
    private static final byte[] SECRET = "a secret of some bytes".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private Path file;
    private WrappingKeyFile keys;

    @BeforeEach
    void make() {
        file = folder.resolve("token.key");
        keys = new WrappingKeyFile(file);
        keys.begin(true);
    }

    @Test
    void theFileIsMadeForItsOwnerAlone() throws IOException {
        assertThat(Files.getPosixFilePermissions(file))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(Files.readAllLines(file)).singleElement()
                .satisfies(line -> assertThat(
                        Base64.getDecoder().decode(line)).hasSize(32));
    }

    @Test
    void unwrapsUnderItsNameAlone() {
        Wrapped wrapped = keys.wrap(SECRET, "one");

        assertThat(keys.unwrap(wrapped, "one")).isEqualTo(SECRET);
        assertThat(keys.wrap(SECRET, "one").text()).isNotEqualTo(wrapped.text());
        assertThatThrownBy(() -> keys.unwrap(wrapped, "two")).isInstanceOf(WrappingException.class)
                .hasMessageContaining("two");
    }

    @Test
    void refusesWhatWasChanged() {
        Wrapped wrapped = keys.wrap(SECRET, "one");
        byte[] raw = Base64.getDecoder().decode(wrapped.text());
        for (int i = 0; i < raw.length; i++) {
            byte[] changed = raw.clone();
            changed[i] ^= 1;
            var other = new Wrapped(wrapped.keyId(), Base64.getEncoder().encodeToString(changed));
            assertThatThrownBy(() -> keys.unwrap(other, "one")).isInstanceOf(WrappingException.class);
        }
        for (String text : List.of("", "AAAA", "no base64")) {
            assertThatThrownBy(() -> keys.unwrap(new Wrapped(wrapped.keyId(), text), "one"))
                    .isInstanceOf(WrappingException.class);
        }
    }

    @Test
    void anOlderKeyStillUnwraps() {
        Wrapped before = keys.wrap(SECRET, "one");

        String id = keys.renew(Set.of());

        assertThat(keys.keyId()).isEqualTo(id).isNotEqualTo(before.keyId());
        assertThat(keys.unwrap(before, "one")).isEqualTo(SECRET);
        assertThat(keys.wrap(SECRET, "one").keyId()).isEqualTo(id);
    }

    @Test
    void holdsOnlySoManyKeys() throws IOException {
        Wrapped first = keys.wrap(SECRET, "one");
        for (int i = 0; i < WrappingKeyFile.MAX_KEYS; i++) {
            keys.renew(Set.of());
        }

        assertThat(Files.readAllLines(file)).hasSize(WrappingKeyFile.MAX_KEYS);
        assertThatThrownBy(() -> keys.unwrap(first, "one"))
                .isInstanceOfSatisfying(WrappingException.class, failed -> assertThat(failed.kind())
                        .isEqualTo(WrappingException.Kind.UNKNOWN_KEY));
    }

    @Test
    void aKeyThatIsUsedIsNotDropped() throws IOException {
        Wrapped first = keys.wrap(SECRET, "one");
        for (int i = 0; i < 2 * WrappingKeyFile.MAX_KEYS; i++) {
            keys.renew(Set.of(first.keyId()));
        }

        assertThat(Files.readAllLines(file)).hasSize(WrappingKeyFile.MAX_KEYS);
        assertThat(keys.unwrap(first, "one")).isEqualTo(SECRET);
    }

    @Test
    void aFileOfUsedKeysIsNotChanged() throws IOException {
        Set<String> used = new HashSet<>(Set.of(keys.keyId()));
        while (used.size() < WrappingKeyFile.MAX_KEYS) {
            used.add(keys.renew(used));
        }
        String before = Files.readString(file);

        assertThatThrownBy(() -> keys.renew(used)).isInstanceOf(WrappingException.class)
                .hasMessageContaining("all are used");
        assertThat(Files.readString(file)).isEqualTo(before);
    }

    @Test
    void aFileThatOthersMayReadIsRefused() throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

        assertThatThrownBy(() -> keys.begin(false)).hasMessageContaining("read by others")
                .hasMessageContaining("0600");
    }

    @Test
    void aFileWithoutKeysIsRefused() throws IOException {
        for (String content : List.of("", "\n", "nonsense!", "AAAA\n")) {
            Files.writeString(file, content);
            assertThatThrownBy(() -> keys.begin(true)).hasMessageContaining("holds no keys");
        }
    }

    @Test
    void aMissingFileIsMadeOnlyAtTheFirstStart() throws IOException {
        Files.delete(file);

        assertThatThrownBy(() -> keys.begin(false)).isInstanceOfSatisfying(WrappingException.class,
                failed -> assertThat(failed.kind()).isEqualTo(WrappingException.Kind.ABSENT));
        assertThat(file).doesNotExist();
    }
}
