package dev.culvert.inbox.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.inbox.InboxFixture;
import dev.culvert.inbox.Reply;
import dev.culvert.inbox.store.DiskRoom.Space;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What webhooks leave on the disk. */
class DiskRoomTest {
    private static final long GIB = 1L << 30;

    @TempDir
    Path folder;

    private final AtomicReference<Space> disk = new AtomicReference<>(new Space(GIB, GIB));
    private final DiskRoom room = new DiskRoom(disk::get);

    @Test
    void aReserveStaysFree() {
        disk.set(new Space(GIB, GIB / 20 + 100));
        room.look(0, 0);

        assertThat(room.take(101)).isFalse();
        assertThat(room.take(100)).isTrue();
        assertThat(room.isThere()).isFalse();
        assertThat(room.reason()).isEqualTo("the disk is full");
        assertThat(new Space(1000 * GIB, 0).reserve()).isEqualTo(256L << 20);
        assertThat(new Space(1 << 20, 0).reserve()).isEqualTo(4L << 20);
    }

    @Test
    void theInboxTakesThreeQuartersAtMost() {
        room.look(GIB / 4 * 3 - 100, 0);

        assertThat(room.take(101)).isFalse();
        assertThat(room.take(100)).isTrue();
        assertThat(room.reason()).isEqualTo("the inbox is full");
    }

    @Test
    void aDiskThatCanOnlyBeReadTakesNothing() {
        disk.set(new Space(GIB, GIB, false));
        room.look(0, 0);

        assertThat(room.isThere()).isFalse();
        assertThat(room.reason()).isEqualTo("the disk can only be read");
    }

    @Test
    void whereTheDiskCanNotBeAskedWritingDecides() {
        var unknown = new DiskRoom(() -> {
            throw new IOException("unknown");
        });
        unknown.look(0, 0);

        assertThat(unknown.take(GIB)).isTrue();
    }

    @Test
    void webhooksAreRefusedWhileTheDiskIsFull() {
        InboxFiles files = InboxFiles.open(folder, Clock.systemUTC());
        try (var fixture = new InboxFixture(folder, files.with(room))) {
            fixture.cut();
            fixture.tick();
            Reply stored = fixture.post("/webhooks/argo/push/", "x");
            assertThat(stored.status()).isEqualTo(202);
            disk.set(new Space(GIB, 1));
            fixture.tick();
            await().until(() -> !room.isThere());

            Reply refused = fixture.post("/webhooks/argo/push/", "x");

            assertThat(refused.status()).isEqualTo(503);
            assertThat(Objects.requireNonNull(refused.problem).detail()).isEqualTo("the disk is full");
            assertThat(fixture.inbox.intake().trouble()).isEqualTo("webhooks are refused: the disk is full");
            disk.set(new Space(GIB, GIB));
            fixture.tick();
            await().until(room::isThere);
            assertThat(fixture.inbox.intake().trouble()).isNull();
            assertThat(fixture.post("/webhooks/argo/push/", "x").status()).isEqualTo(202);
        }
    }

    /** What the files of the folder leave of a small disk. */
    private Space small() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            long used = files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
            return new Space(64 << 20, (64 << 20) - used);
        }
    }

    private static String junk(int number, int bytes) {
        return number + "-" + "j".repeat(bytes);
    }

    /** Rejected ones below a database page's reach, and those whose bodies are files. */
    @ParameterizedTest
    @ValueSource(ints = {59_000, 1_000_000})
    void keptJunkKeepsNoNewWebhookOut(int bytes) {
        InboxFiles files = InboxFiles.open(folder, Clock.systemUTC());
        try (var fixture = new InboxFixture(folder, files.with(new DiskRoom(this::small)))) {
            await().until(fixture.inbox::isDelivering);
            fixture.runtime.answer(exchange -> exchange.head("400", true));
            for (int sent = 0; sent < 64 << 20; sent += bytes) {
                assertThat(fixture.post("/webhooks/argo/junk/", junk(sent, bytes)).status()).isIn(400, 503);
            }
            fixture.runtime.answer(exchange -> exchange.head("200", true));

            for (int i = 0; i < 500; i++) {
                Reply reply = fixture.post("/webhooks/argo/new" + i + "/", junk(i, 20_000));
                assertThat(reply.status()).as("webhook %d", i).isEqualTo(200);
            }
        }
    }
}
