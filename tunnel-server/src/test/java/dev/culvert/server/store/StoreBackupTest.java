package dev.culvert.server.store;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.certs.Sha256;
import dev.culvert.http.net.EventLoops;
import dev.culvert.inbox.Inbox;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.TestInbox;
import dev.culvert.server.runtime.Generations;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreBackupTest {
    private static final String DOMAIN = "t.example";

    private final Path folder;
    private final Path data;
    private final Path copy;
    private final StoreBackup backup;

    StoreBackupTest(@TempDir Path folder) {
        this.folder = folder;
        data = folder.resolve("data");
        copy = folder.resolve("copy.db");
        backup = new StoreBackup(data, Clock.systemUTC());
    }

    @Test
    void aLiveDatabaseIsCopiedAndComesBack() throws IOException {
        SqliteRuntimeStore live = open();
        RegisteredRuntime kept = create(live, "kept");
        await(backup.backup(copy));
        RegisteredRuntime late = create(live, "late");
        assertThat(live.runtimes()).containsExactly(kept, late);
        live.close().block();

        StoreBackup.Restored restored = await(backup.restore(copy, DOMAIN, false));

        assertThat(restored.runtimes()).isEqualTo(1);
        SqliteRuntimeStore again = open();
        assertThat(again.runtimes()).containsExactly(kept);
        again.close().block();
        Path before = Objects.requireNonNull(restored.before());
        Path aside = Files.createDirectory(folder.resolve("aside"));
        Files.copy(before, aside.resolve("culvert.db"));
        SqliteRuntimeStore old = await(SqliteRuntimeStore.open(aside, DOMAIN, StoreLimits.defaults(),
                Clock.offset(Clock.systemUTC(), SqliteLease.LIFE)));
        assertThat(old.runtimes()).containsExactly(kept, late);
        old.close().block();
    }

    @Test
    void onlyTheOwnerReadsABackupAndNothingElseIsLeft() throws IOException {
        open().close().block();

        await(backup.backup(copy));

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copy))).isEqualTo("rw-------");
        assertThat(names(folder)).containsExactlyInAnyOrder("copy.db", "data");
        await(backup.restore(copy, DOMAIN, false));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve("culvert.db"))))
                .isEqualTo("rw-------");
        assertThat(names(data)).hasSize(2).contains("culvert.db");
    }

    @Test
    void theInboxIsCopiedAndComesBack() throws Exception {
        open().close().block();
        var loops = EventLoops.create(1);
        try {
            Inbox inbox = TestInbox.open(data.resolve("inbox"), loops);
            inbox.webhooks().pause("r1", "argo/push").block();
            await(backup.backup(copy));
            inbox.webhooks().resume("r1", "argo/push").block();
            inbox.close().block();

            assertThat(await(backup.restore(copy, DOMAIN, false)).inbox()).isTrue();

            assertThat(names(data)).anyMatch(name -> name.startsWith("inbox.before-restore-"));
            assertThat(paused(data.resolve("inbox"))).isEqualTo(1);
        } finally {
            loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block();
        }
    }

    private static int paused(Path inbox) throws SQLException {
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + inbox.resolve("inbox.db"));
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT count(*) FROM paused")) {
            return row.getInt(1);
        }
    }

    @Test
    void aBackupOverwritesNothing() throws IOException {
        open().close().block();
        Files.writeString(copy, "mine");

        assertThatThrownBy(() -> await(backup.backup(copy))).isInstanceOf(StoreException.Conflict.class)
                .hasMessageContaining("exists already");

        assertThat(copy).hasContent("mine");
    }

    @Test
    void thereIsNoBackupWithoutADatabase() {
        assertThatThrownBy(() -> await(backup.backup(copy))).isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("it is not there");

        assertThat(data.resolve("culvert.db")).doesNotExist();
        assertThat(copy).doesNotExist();
    }

    @Test
    void aServerThatHoldsTheDatabaseIsNamedAndKeepsIt() {
        SqliteRuntimeStore live = open();
        await(backup.backup(copy));
        RegisteredRuntime late = create(live, "late");

        assertThatThrownBy(() -> await(backup.restore(copy, DOMAIN, true)))
                .isInstanceOf(StoreException.Held.class)
                .hasMessageContaining("pid " + ProcessHandle.current().pid());

        assertThat(create(live, "later")).isNotNull();
        live.close().block();
        SqliteRuntimeStore again = open();
        assertThat(again.runtimes()).contains(late).hasSize(2);
        again.close().block();
    }

    @Test
    void aPausedServerWithTheFileOpenIsNotRobbedOfIt() {
        var clock = new MovableClock();
        SqliteRuntimeStore paused = await(
                SqliteRuntimeStore.open(data, DOMAIN, StoreLimits.defaults(), clock));
        await(backup.backup(copy));

        assertThatThrownBy(() -> await(backup.restore(copy, DOMAIN, true)))
                .isInstanceOfAny(StoreException.Held.class, StoreException.Failed.class)
                .hasMessageContaining("another process");

        paused.close().block();
    }

    @Test
    void aDamagedOrForeignFileIsRefusedAndTheDatabaseStays() throws Exception {
        SqliteRuntimeStore live = open();
        RegisteredRuntime runtime = create(live, "prod");
        await(backup.backup(copy));
        live.close().block();
        Path foreign = folder.resolve("foreign.db");
        sql(foreign, "CREATE TABLE notes (text TEXT)");
        try (var file = new RandomAccessFile(copy.toFile(), "rw")) {
            file.seek(4096);
            file.write(new byte[4096]);
        }

        assertThatThrownBy(() -> await(backup.restore(foreign, DOMAIN, false)))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining(foreign + "")
                .hasMessageContaining("no runtimes of Culvert's");
        assertThatThrownBy(() -> await(backup.restore(copy, DOMAIN, false)))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("damaged");
        assertThatThrownBy(() -> await(backup.restore(folder.resolve("none"), DOMAIN, false)))
                .isInstanceOf(StoreException.Failed.class);

        SqliteRuntimeStore again = open();
        assertThat(again.runtimes()).containsExactly(runtime);
        again.close().block();
        assertThat(names(data)).containsExactly("culvert.db");
    }

    @Test
    void aDamagedDatabaseIsPutAsideByForceAlone() throws IOException {
        SqliteRuntimeStore live = open();
        RegisteredRuntime runtime = create(live, "prod");
        await(backup.backup(copy));
        live.close().block();
        Files.writeString(data.resolve("culvert.db"), "no database at all\n".repeat(1000));

        assertThatThrownBy(() -> await(backup.restore(copy, DOMAIN, false)))
                .isInstanceOf(StoreException.Failed.class)
                .hasMessageContaining("--force");
        Path before = Objects.requireNonNull(await(backup.restore(copy, DOMAIN, true)).before());

        assertThat(before).content().startsWith("no database");
        SqliteRuntimeStore again = open();
        assertThat(again.runtimes()).containsExactly(runtime);
        again.close().block();
    }

    @Test
    void generationsGoOnAboveThoseOfTheReplacedDatabaseWhateverTheClockSays() {
        var clock = new MovableClock();
        SqliteRuntimeStore live = await(SqliteRuntimeStore.open(data, DOMAIN, StoreLimits.defaults(), clock));
        await(backup.backup(copy));
        long ahead = clock.millis() + 1_000_000;
        await(live.generations().raise(ahead));
        live.close().block();

        await(backup.restore(copy, DOMAIN, false));

        SqliteRuntimeStore again = await(
                SqliteRuntimeStore.open(data, DOMAIN, StoreLimits.defaults(), clock));
        assertThat(await(Generations.open(again.generations(), clock)).getAsLong()).isGreaterThan(ahead);
        again.close().block();
    }

    private SqliteRuntimeStore open() {
        return await(SqliteRuntimeStore.open(data, DOMAIN, StoreLimits.defaults(), Clock.systemUTC()));
    }

    private static RegisteredRuntime create(RuntimeStore store, String name) {
        var full = new RuntimeName("acme", name);
        var runtime = new RegisteredRuntime(UUID.randomUUID().toString(), UUID.randomUUID().toString(), full,
                full.label() + "." + DOMAIN, List.of(name + ".example.com"), Instant.EPOCH);
        return await(store.create(runtime, new StoredToken(runtime.id(),
                Sha256.of(name.getBytes(StandardCharsets.UTF_8)), runtime.id(), Instant.EPOCH, null, null)));
    }

    private static List<String> names(Path place) throws IOException {
        try (var files = Files.list(place)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    private static void sql(Path file, String sql) throws SQLException {
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
