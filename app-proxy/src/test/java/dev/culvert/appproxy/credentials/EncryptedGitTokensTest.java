package dev.culvert.appproxy.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

class EncryptedGitTokensTest {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final Scheduler BLOCKING = Schedulers.newBoundedElastic(2, 100, "tokens");
    private static final AuthenticatedCaller ALICE = new AuthenticatedCaller("acme", "alice", "Alice",
            "alice@example.com", false);
    private static final AuthenticatedCaller BOB = new AuthenticatedCaller("acme", "bob", "Bob",
            "bob@example.com", false);
    private static final GitToken TOKEN = new GitToken("alice-at-hub", "ghp_secretSecret1234567890");

    @TempDir
    Path temp;

    @AfterAll
    static void stop() {
        BLOCKING.dispose();
    }

    @Test
    void aTokenSurvivesARestartAndIsNotReadableAtRest() throws IOException {
        await(tokens().put(ALICE, "hub", TOKEN));

        GitToken found = await(tokens().of(ALICE, "hub"));

        assertThat(found).isNotNull().matches(token -> token.sameAs(TOKEN));
        assertThat(file()).content()
                .doesNotContain(TOKEN.value())
                .doesNotContain(Base64.getEncoder()
                        .encodeToString(TOKEN.value().getBytes(StandardCharsets.UTF_8)));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(keys())))
                .isEqualTo("rw-------");
        assertThat(TOKEN).hasToString("GitToken[login=alice-at-hub, value=***]");
    }

    @Test
    void whoRegisteredNoneIsToldSo() {
        assertThatThrownBy(() -> await(tokens().of(BOB, "hub"))).isInstanceOf(HandlerException.class)
                .hasMessageContaining("registerToGitIntegration");
        assertThatThrownBy(() -> await(tokens().runtime("hub"))).isInstanceOf(HandlerException.class)
                .hasMessageContaining("registerRuntimeGitToken");
    }

    @Test
    void aRemovedTokenIsGone() {
        EncryptedGitTokens tokens = tokens();
        await(tokens.put(ALICE, "hub", TOKEN));

        assertThat(await(tokens.remove(ALICE, "hub"))).isTrue();
        assertThat(await(tokens.remove(ALICE, "hub"))).isFalse();
        assertThatThrownBy(() -> await(tokens().of(ALICE, "hub"))).isInstanceOf(HandlerException.class);
    }

    @Test
    void aRecordMovedToAnotherUserIsRefused() throws IOException {
        await(tokens().put(ALICE, "hub", TOKEN));
        String swapped = Files.readString(file())
                .replace(TokenPlace.of(ALICE, "hub").key(), TokenPlace.of(BOB, "hub").key());
        Files.writeString(file(), swapped);

        assertThatThrownBy(() -> await(tokens().of(BOB, "hub"))).isInstanceOf(HandlerException.class)
                .hasMessageContaining("can't be read");
    }

    @Test
    void anOldKeyStillDecryptsAndOpeningEncryptsAgain() throws IOException {
        await(tokens().put(ALICE, "hub", TOKEN));
        await(tokens().putRuntime("hub", TOKEN));
        String old = Files.readString(keys());
        String fresh = Base64.getEncoder().encodeToString(new byte[32]) + "\n";
        Files.writeString(keys(), fresh + old);

        await(tokens().open());
        Files.writeString(keys(), fresh);

        assertThat(await(tokens().of(ALICE, "hub"))).isNotNull().matches(token -> token.sameAs(TOKEN));
        assertThat(await(tokens().runtime("hub"))).isNotNull().matches(token -> token.sameAs(TOKEN));
    }

    @Test
    void aRecordThatCulvertDidNotWriteIsSkippedAndStays() throws IOException {
        await(tokens().put(ALICE, "hub", TOKEN));
        Files.writeString(file(), Files.readString(file()).replaceFirst("\\{", "{\"odd\":{\"a\":1},"));

        EncryptedGitTokens tokens = tokens();
        assertThat(await(tokens.of(ALICE, "hub"))).isNotNull().matches(token -> token.sameAs(TOKEN));
        await(tokens.put(BOB, "hub", TOKEN));

        assertThat(file()).content().contains("\"odd\":{\"a\":1}");
        assertThat(await(tokens().of(BOB, "hub"))).isNotNull();
    }

    @Test
    void aBrokenFileIsNamedWithItsPlaceAndWithoutItsText() throws IOException {
        Files.writeString(file(), "{broken");

        assertThatThrownBy(() -> await(tokens().open())).hasMessageContaining(file().toString())
                .hasMessageContaining("line 1, column 2")
                .hasMessageContaining("restore a backup")
                .hasMessageNotContaining("broken");
        assertThat(file()).content().isEqualTo("{broken");
    }

    @Test
    void aRecordThatNoKeyFitsKeepsNoOtherOut() throws IOException {
        await(tokens().put(ALICE, "hub", TOKEN));
        String lost = Files.readString(keys());
        Files.delete(keys());
        var tokens = tokens();

        await(tokens.open());
        await(tokens.put(BOB, "hub", TOKEN));

        assertThat(await(tokens.of(BOB, "hub"))).isNotNull().matches(token -> token.sameAs(TOKEN));
        assertThat(tokens.unreadable()).isEqualTo(1);
        assertThatThrownBy(() -> await(tokens.of(ALICE, "hub"))).isInstanceOfSatisfying(
                HandlerException.class, refusal -> assertThat(refusal.reason()).isEqualTo(Reason.FORBIDDEN));
        Files.writeString(keys(), Files.readString(keys()) + lost);
        assertThat(await(tokens().of(ALICE, "hub"))).isNotNull().matches(token -> token.sameAs(TOKEN));
    }

    @Test
    void aTokenRegisteredAnewIsReadableAgain() throws IOException {
        await(tokens().put(ALICE, "hub", TOKEN));
        Files.writeString(file(), Files.readString(file()).replaceAll("\"[^\":]+\"}", "\"no record\"}"));
        var tokens = tokens();
        await(tokens.open());
        assertThat(tokens.unreadable()).isEqualTo(1);

        await(tokens.put(ALICE, "hub", TOKEN));

        assertThat(tokens.unreadable()).isZero();
        assertThat(await(tokens().of(ALICE, "hub"))).isNotNull();
    }

    @Test
    void keysThatOthersCanReadAreRefused() throws IOException {
        Files.writeString(keys(), Base64.getEncoder().encodeToString(new byte[32]));
        Files.setPosixFilePermissions(keys(), PosixFilePermissions.fromString("rw-r--r--"));

        assertThatThrownBy(() -> await(tokens().open())).hasMessageContaining("expected: mode 0600");
    }

    @Test
    void keysOfAnotherLengthAreRefused() {
        for (String text : List.of("", "AAAA", "no base64!", "A".repeat(32))) {
            assertThatThrownBy(() -> TokenKeys.parse(text, "k")).isInstanceOf(IOException.class)
                    .hasMessageContaining("32 bytes in base64");
        }
    }

    @Test
    void aFullStoreTakesNoFurtherUserButRenewsKnownOnes() {
        var tokens = new EncryptedGitTokens(TokenVault.of(config()), BLOCKING, 1);
        await(tokens.put(ALICE, "hub", TOKEN));

        assertThatThrownBy(() -> await(tokens.put(BOB, "hub", TOKEN))).hasMessageContaining("full");
        await(tokens.put(ALICE, "hub", new GitToken("a", "other")));
        assertThat(await(tokens.of(ALICE, "hub"))).isNotNull().extracting(GitToken::value).isEqualTo("other");
    }

    @Test
    void placesAreReadAsTheyWereWritten() {
        for (TokenPlace place : List.of(TokenPlace.runtime("hub"), new TokenPlace("1:a", "2:bb", "3"))) {
            assertThat(TokenPlace.parse(place.key())).isEqualTo(place);
        }
    }

    private EncryptedGitTokens tokens() {
        return EncryptedGitTokens.of(config(), BLOCKING);
    }

    private TokensConfig config() {
        return TokensConfig.files(temp, keys());
    }

    private Path keys() {
        return temp.resolve("tokens.key");
    }

    private Path file() {
        return temp.resolve(FileTokenStore.FILE);
    }

    private static <T> @Nullable T await(Mono<T> mono) {
        return mono.block(TIME);
    }
}
