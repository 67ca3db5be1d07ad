package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.model.CommitListener;
import dev.culvert.inbox.model.Fingerprint;
import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.inbox.model.Receipt;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.StoredFields;
import dev.culvert.inbox.model.Waiter;
import dev.culvert.inbox.model.WebhookBody;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.inbox.store.KnownSources;
import dev.culvert.inbox.store.Statements;
import dev.culvert.inbox.store.WebhookRows;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import dev.culvert.store.StoreException;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was acknowledged is there after a crash. */
class InboxCrashTest {
    private static final int STORED = 20;
    private static final String PUSH = "/webhooks/argo/push/";
    /** Every byte, with this property; else those around frames, and some of all others. */
    private static final boolean ALL = Boolean.getBoolean("culvert.inbox.everyByte");
    private static final int SOME = 1999;
    /** sqlite.org/fileformat2.html §4.1. */
    private static final int WAL_HEADER = 32;
    private static final int WAL_FRAME = 24 + 4096;

    @TempDir
    Path folder;

    @Test
    void whatAKilledProcessAcknowledgedIsThere() throws IOException {
        List<String> acknowledged = StoringProcess.killedAfter(folder, 80);

        try (var fixture = new InboxFixture(folder)) {
            fixture.cut();
            for (String id : acknowledged) {
                assertThat(await(fixture.inbox.webhooks().entry(id)).state()).isEqualTo(WebhookState.PENDING);
            }
            assertThat(spoolFiles()).hasSameSizeAs(spooledRows());
            fixture.runtime.answer(exchange -> exchange.ok("ok"));
            await().until(fixture.inbox::isDelivering);
            fixture.restore();
            await().until(() -> fixture.counts().getOrDefault(WebhookState.DELIVERED, 0L) >= 80);
        }
    }

    @Test
    void anAttemptThatACrashInterruptedIsRepeatedUnderTheNextNumber() throws InterruptedException {
        String id;
        try (var fixture = new InboxFixture(folder)) {
            await().until(fixture.inbox::isDelivering);
            fixture.post(PUSH, "{}");
            id = String.valueOf(fixture.runtime.next().request.fields().get("culvert-webhook-id"));
        }

        try (var fixture = new InboxFixture(folder)) {
            var again = fixture.runtime.next();
            again.ok("x");

            assertThat(again.request.fields().get("culvert-webhook-id")).hasToString(id);
            assertThat(again.request.fields().get("culvert-delivery-attempt")).hasToString("2");
        }
    }

    @Test
    void aTornLastTransactionLosesNothingThatWasAcknowledgedBefore() throws IOException, SQLException {
        InboxFiles files = InboxFiles.open(folder, Clock.systemUTC());
        var commits = new CommitThread(files.file(), files.writes(), files.lease(), Clock.systemUTC(),
                new Ignoring(), new KnownSources(1000), files.mark(), 0);
        commits.start();
        Path wal = Path.of(files.file() + "-wal");
        store(commits, "first");
        store(commits, "second");
        long before = Files.size(wal);
        store(commits, "torn");
        long after = Files.size(wal);
        Path copy = Files.createDirectory(folder.resolve("copy")).resolve("inbox.db");

        assertThat(after).isGreaterThan(before);
        for (long length : lengths(before, after)) {
            Files.copy(files.file(), copy, StandardCopyOption.REPLACE_EXISTING);
            Path torn = Path.of(copy + "-wal");
            Files.copy(wal, torn, StandardCopyOption.REPLACE_EXISTING);
            Files.deleteIfExists(Path.of(copy + "-shm"));
            try (var file = new RandomAccessFile(torn.toFile(), "rw")) {
                file.setLength(length);
            }
            assertThat(ids(copy)).as("cut at %d", length)
                    .isEqualTo(
                            length == after ? Set.of("first", "second", "torn") : Set.of("first", "second"));
        }
        commits.close().join();
        files.reads().close();
    }

    /** A process that was killed, whose log is then damaged at a random place, or cut there. */
    @Test
    void aDamagedLogIsNeverSilent() throws IOException, SQLException {
        long seed = Long.getLong("culvert.damages", System.nanoTime());
        var random = new Random(seed);
        var commits = killed("live");
        for (int i = 0; i < 20; i++) {
            boolean cut = i % 4 == 3;
            Path copy = copyOf("live", "damaged-" + i);
            Path wal = copy.resolve("inbox.db-wal");
            try (var file = new RandomAccessFile(wal.toFile(), "rw")) {
                long at = random.nextLong(file.length());
                if (cut) {
                    file.setLength(at);
                } else {
                    file.seek(at);
                    int octet = file.read();
                    file.seek(at);
                    file.write(octet ^ 0x55);
                }
            }

            InboxFiles files = InboxFiles.open(copy, Clock.systemUTC());

            assertThat(files.lost()).as("damage %d of seed %d", i, seed)
                    .isEqualTo(STORED - ids(files.file()).size());
            closeAll(files);
        }
        commits.close().join();
    }

    @Test
    void aMissingLogIsSaidOnce() throws IOException, SQLException {
        var commits = killed("live");
        Path copy = copyOf("live", "copy");
        Files.delete(copy.resolve("inbox.db-wal"));

        InboxFiles first = InboxFiles.open(copy, Clock.systemUTC());
        assertThat(first.lost()).isEqualTo(STORED);
        closeAll(first);
        InboxFiles second = InboxFiles.open(copy, Clock.systemUTC());
        assertThat(second.lost()).isZero();
        closeAll(second);
        commits.close().join();
    }

    @Test
    void anEmptyDatabaseWhereWebhooksWereStoredIsRefused() throws IOException {
        var commits = killed("live");
        for (String name : List.of("empty", "missing", "bodies")) {
            Path copy = copyOf("live", name);
            Files.delete(copy.resolve("inbox.db-wal"));
            Files.delete(copy.resolve("inbox.db"));
            if (name.equals("empty")) {
                Files.createFile(copy.resolve("inbox.db"));
            } else if (name.equals("bodies")) {
                Files.delete(copy.resolve("inbox.last"));
                Files.write(Files.createDirectories(copy.resolve("spool/old")).resolve("body"), new byte[1]);
            }

            assertThatThrownBy(() -> InboxFiles.open(copy, Clock.systemUTC())).as(name)
                    .isInstanceOf(StoreException.Failed.class)
                    .hasMessageContaining("restore a backup");
        }
        commits.close().join();
    }

    /** Stores webhooks in a folder and leaves its files as they are then. */
    private CommitThread killed(String name) throws IOException {
        InboxFiles files = InboxFiles.open(Files.createDirectory(folder.resolve(name)), Clock.systemUTC());
        var commits = new CommitThread(files.file(), files.writes(), files.lease(), Clock.systemUTC(),
                new Ignoring(), new KnownSources(1000), files.mark(), 0);
        commits.start();
        for (int i = 0; i < STORED; i++) {
            store(commits, "id-" + i);
        }
        return commits;
    }

    private Path copyOf(String name, String to) throws IOException {
        Path copy = Files.createDirectory(folder.resolve(to));
        for (String file : List.of("inbox.db", "inbox.db-wal", "inbox.last")) {
            Files.copy(folder.resolve(name).resolve(file), copy.resolve(file));
        }
        return copy;
    }

    private static void closeAll(InboxFiles files) throws SQLException, IOException {
        files.writes().close();
        files.reads().close();
        files.queries().close();
        files.spool().close();
        files.mark().close();
    }

    private static List<Long> lengths(long before, long after) {
        return LongStream.rangeClosed(before, after).filter(length -> {
            long inFrame = (length - WAL_HEADER) % WAL_FRAME;
            return ALL || length == after || length % SOME == 0 || inFrame <= 1 || inFrame == WAL_FRAME - 1;
        }).boxed().toList();
    }

    private static void store(CommitThread commits, String id) {
        EventLoop loop = new DefaultEventLoop();
        byte[] fields = StoredFields.encode(new DefaultHttp2Headers(false).method("POST"));
        var draft = new IncomingWebhook(id, "r1", new DurableRoute("argo/push", "/", true, 1, null, false),
                "POST", "h",
                "/", SourceAddress.UNKNOWN,
                new Fingerprint("r1", "/", null, null, new byte[32]),
                new WebhookBody(fields, new byte[3000], null, 3000, null), new Nobody(), loop);
        var done = new CompletableFuture<Receipt>();
        commits.submit(tx -> WebhookRows.store(tx, draft, (runtime, source) -> true), 0, done::complete,
                done::completeExceptionally);
        done.join();
        loop.shutdownGracefully();
    }

    private static Set<String> ids(Path file) throws SQLException {
        Set<String> ids = new HashSet<>();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            try (ResultSet check = statement.executeQuery("PRAGMA quick_check")) {
                assertThat(check.getString(1)).isEqualTo("ok");
            }
            try (ResultSet row = statement
                    .executeQuery("SELECT id FROM webhooks JOIN contents USING (seq)")) {
                while (row.next()) {
                    ids.add(row.getString(1));
                }
            }
        }
        return ids;
    }

    private List<Path> spoolFiles() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("spool"))) {
            return files.filter(Files::isRegularFile).filter(file -> !file.endsWith("lock")).toList();
        }
    }

    private List<String> spooledRows() {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("inbox.db"));
                var statements = new Statements(connection)) {
            return statements.list("SELECT spool FROM webhooks WHERE spool IS NOT NULL",
                    row -> row.getString(1));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private record Ignoring() implements CommitListener {
        @Override
        public void found(List<SourceKey> others) {}

        @Override
        public void committed(int tasks, long nanos) {}
    }

    private record Nobody() implements Waiter {
        @Override
        public void pending() {}

        @Override
        public void answered(StoredAnswer answer) {}
    }
}
