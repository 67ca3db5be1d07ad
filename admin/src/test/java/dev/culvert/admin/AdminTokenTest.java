package dev.culvert.admin;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

class AdminTokenTest {
    @TempDir
    Path folder;

    @Test
    void absentFileIsMadeWithItsFolderAndKeptByTheNextStart() throws IOException {
        Path file = folder.resolve("a/b/admin.token");
        await(AdminToken.load(file));
        String text = Files.readString(file);

        AdminToken second = await(AdminToken.load(file));

        assertThat(Files.readString(file)).isEqualTo(text);
        assertThat(await(second.matches(text.strip()))).isTrue();
        assertThat(await(second.matches(text))).isFalse();
        assertThat(await(second.matches(""))).isFalse();
    }

    @Test
    void manyWhoMakeTheFileAtOnceReadOneWholeToken() {
        for (int i = 0; i < 50; i++) {
            Path file = folder.resolve("token-" + i);

            List<AdminToken> made = await(Flux.range(0, 8)
                    .flatMap(each -> AdminToken.load(file), 8)
                    .collectList());

            assertThat(made).hasSize(8);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "fifteen-letters", "two words of sufficient length", "sixteen-letterŝ"})
    void fileWithoutAUsableTokenIsRefused(String content) throws IOException {
        Path file = Files.writeString(folder.resolve("admin.token"), content);

        assertThatThrownBy(() -> await(AdminToken.load(file))).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("admin.tokenFile")
                .hasMessageContaining("16");
    }

    @Test
    void fileAboveTheLimitIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("admin.token"), "x".repeat(4097));

        assertThatThrownBy(() -> await(AdminToken.load(file))).isInstanceOf(ConfigException.class);
    }

    @Test
    void fileThatCantBeReadIsRefused() {
        assertThatThrownBy(() -> await(AdminToken.load(folder))).isInstanceOf(ConfigException.class);
    }

    @Test
    void tokenOfTheSameLengthCountsAtOnce() throws IOException {
        Path file = Files.writeString(folder.resolve("admin.token"), "the-first-token-of-all\n");
        AdminToken token = await(AdminToken.load(file));

        Files.writeString(file, "another-token-of-all-x\n");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000));

        assertThat(await(token.matches("the-first-token-of-all"))).isFalse();
        assertThat(await(token.matches("another-token-of-all-x"))).isTrue();
    }
}
