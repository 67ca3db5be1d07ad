package dev.culvert.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.route.DurableMatch.DurableRoute;
import dev.culvert.edge.route.Verification;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecretFilesTest {
    @TempDir
    Path folder;

    @Test
    void aChangedFileIsReadAgainAndAMissingOneStaysInForce() throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), "old\n\nnew\n");
        try (SecretFiles secrets = SecretFiles.of(List.of(file))) {
            assertThat(texts(secrets, file)).containsExactly("old", "new");

            Files.writeString(file, "new");
            secrets.readAgain();
            assertThat(texts(secrets, file)).containsExactly("new");

            Files.delete(file);
            secrets.readAgain();
            assertThat(texts(secrets, file)).containsExactly("new");
            assertThat(secrets.toString()).doesNotContain("new");
        }
    }

    @Test
    void aFileThatIsMissingOrEmptyIsAnErrorOfTheConfiguration() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty"), "\n");

        assertThatThrownBy(() -> SecretFiles.of(List.of(empty))).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> SecretFiles.of(List.of(folder.resolve("none"))))
                .isInstanceOf(ConfigException.class);
    }

    @Test
    void aRouteWithoutAFileIsNotVerifiedAndOneOfAnUnknownFileRefusesAll() {
        try (SecretFiles secrets = SecretFiles.of(List.of())) {
            assertThat(secrets.of("r", route(null))).isNull();
            assertThat(secrets.of("r", route(folder.resolve("unknown")))).isEmpty();
        }
    }

    private static List<String> texts(SecretFiles secrets, Path file) {
        return Objects.requireNonNull(secrets.of("r", route(file)))
                .stream()
                .map(secret -> new String(secret, StandardCharsets.US_ASCII))
                .toList();
    }

    private static DurableRoute route(@Nullable Path file) {
        return new DurableRoute("a/b", "/", true, 1, new Verification(Verification.Provider.GITHUB, file));
    }
}
