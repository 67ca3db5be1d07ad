package dev.culvert.inbox.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.inbox.InboxFixture;
import dev.culvert.inbox.Reply;
import dev.culvert.inbox.store.DiskRoom.Space;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
        room.look(0);

        assertThat(room.take(101)).isFalse();
        assertThat(room.take(100)).isTrue();
        assertThat(room.isThere()).isFalse();
        assertThat(room.reason()).isEqualTo("the disk is full");
        assertThat(new Space(1000 * GIB, 0).reserve()).isEqualTo(256L << 20);
        assertThat(new Space(1 << 20, 0).reserve()).isEqualTo(4L << 20);
    }

    @Test
    void theInboxTakesThreeQuartersAtMost() {
        room.look(GIB / 4 * 3 - 100);

        assertThat(room.take(101)).isFalse();
        assertThat(room.take(100)).isTrue();
        assertThat(room.reason()).isEqualTo("the inbox is full");
    }

    @Test
    void aDiskThatCanOnlyBeReadTakesNothing() {
        disk.set(new Space(GIB, GIB, false));
        room.look(0);

        assertThat(room.isThere()).isFalse();
        assertThat(room.reason()).isEqualTo("the disk can only be read");
    }

    @Test
    void whereTheDiskCanNotBeAskedWritingDecides() {
        var unknown = new DiskRoom(() -> {
            throw new IOException("unknown");
        });
        unknown.look(0);

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
}
