package dev.culvert.inbox.store;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.inbox.InboxFixture;
import dev.culvert.inbox.model.InboxEntry;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.relay.testing.FakeRelay.Exchange;
import dev.culvert.store.StoreException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An inbox that is copied while it runs, and comes back. */
class InboxBackupTest {
    private static final String PUSH = "/webhooks/argo/push/";

    @TempDir
    Path folder;

    @Test
    void aCopyOfARunningInboxComesBackWithLargeBodies() throws Exception {
        Path data = folder.resolve("inbox");
        Path copy = folder.resolve("copy");
        String large = "0123456789abcdef".repeat(8_000);
        String smallId;
        String largeId;
        try (var fixture = new InboxFixture(data)) {
            fixture.cut();
            smallId = fixture.post(PUSH + 1, "small").id();
            largeId = fixture.post(PUSH + 2, large).id();

            InboxBackup.copy(data, copy);

            assertThat(fixture.post(PUSH + 3, "late").status()).isEqualTo(202);
            assertThatThrownBy(() -> InboxBackup.restore(copy, data, "aside", Clock.systemUTC()))
                    .isInstanceOf(StoreException.Held.class);
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy))).isEqualTo("rwx------");
        assertThat(
                PosixFilePermissions.toString(Files.getPosixFilePermissions(copy.resolve(InboxFiles.FILE))))
                .isEqualTo("rw-------");

        Path before = Objects.requireNonNull(InboxBackup.restore(copy, data, "aside", Clock.systemUTC()));

        assertThat(InboxBackup.isThere(before)).isTrue();
        try (var fixture = new InboxFixture(data)) {
            assertThat(await(fixture.inbox.webhooks().list(InboxQuery.of(null, 10))).entries())
                    .extracting(InboxEntry::id)
                    .containsExactly(largeId, smallId);
            Exchange first = fixture.runtime.next();
            assertThat(first.request.fields().getInt("culvert-delivery-attempt")).isGreaterThan(1000);
            first.ok("there");
            Exchange second = fixture.runtime.next();
            second.awaitEnd();
            assertThat(second.receivedBytes).hasValue(large.length());
            second.ok("there");
            await().until(
                    () -> await(fixture.inbox.webhooks().entry(largeId)).state() == WebhookState.DELIVERED);
        }
    }

    @Test
    void aBodyThatIsGoneMeanwhileIsLeftOut() throws Exception {
        Path data = folder.resolve("inbox");
        Path copy = folder.resolve("copy");
        try (var fixture = new InboxFixture(data)) {
            fixture.cut();
            String kept = fixture.post(PUSH + 1, "small").id();
            assertThat(fixture.post(PUSH + 2, "x".repeat(100_000)).status()).isEqualTo(202);
            try (var files = Files.walk(data.resolve(InboxFiles.SPOOL))) {
                Files.delete(files.filter(file -> Files.isRegularFile(file) && !file.endsWith("lock"))
                        .findFirst()
                        .orElseThrow());
            }

            InboxBackup.copy(data, copy);

            try (var copied = new InboxFixture(copy)) {
                assertThat(await(copied.inbox.webhooks().list(InboxQuery.of(null, 10))).entries())
                        .extracting(InboxEntry::id)
                        .containsExactly(kept);
            }
        }
    }
}
