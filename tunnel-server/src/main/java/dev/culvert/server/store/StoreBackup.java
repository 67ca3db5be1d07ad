package dev.culvert.server.store;

import dev.culvert.inbox.store.InboxBackup;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteCopy;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.SqliteSchema;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Copies a server's database to one file, and its inbox to a folder beside it, also while the server runs, and puts both in
 * their place. All
 * work is done on the bounded elastic scheduler, once its {@code Mono} is subscribed; cancelling does not stop it. Errors:
 * {@link StoreException}.
 */
public final class StoreBackup {
    /** Where the inbox is in the data directory. */
    public static final String INBOX_FOLDER = "inbox";

    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'")
            .withZone(ZoneOffset.UTC);

    /** Behind the name of a backup's file: the folder with its inbox. */
    private static final String INBOX = ".inbox";

    private final Path file;
    private final Path inbox;
    private final Clock clock;

    /** Of the database in a data folder. */
    public StoreBackup(Path dataDir, Clock clock) {
        this.file = dataDir.resolve(SqliteRuntimeStore.FILE);
        this.inbox = dataDir.resolve(INBOX_FOLDER);
        this.clock = clock;
    }

    /**
     * What was restored.
     *
     * @param runtimes how many runtimes the database holds now
     * @param before the database that was there before; null when there was none
     * @param inbox whether webhooks were restored
     */
    public record Restored(int runtimes, @Nullable Path before, boolean inbox) {}

    /**
     * Writes what the database holds now to a new file, mode 0600, and the inbox, if there is one, to a new folder of that name
     * with {@code .inbox}: whole, checked and on the disk, or not at all. The inbox first: no webhook in it is of a runtime that the
     * file does not know. A running server goes on meanwhile. Emits the file.
     */
    public Mono<Path> backup(Path to) {
        return blocking(file, () -> {
            if (Files.notExists(file)) {
                throw new SQLException("it is not there (expected: the dataDir of a server)");
            }
            Path inboxTo = Path.of(to + INBOX);
            SqliteCopy.requireNew(to);
            SqliteCopy.requireNew(inboxTo);
            Path part = SqliteCopy.temporary(to.toAbsolutePath().getParent());
            try {
                if (InboxBackup.isThere(inbox)) {
                    InboxBackup.copy(inbox, inboxTo);
                }
                SqliteCopy.into(part, file);
                SqliteCopy.finish(part, to);
            } finally {
                SqliteCopy.deleteAll(part);
            }
            return to;
        });
    }

    /**
     * Puts a backup in the database's place and keeps what was there under another name. Refuses while a server holds the
     * database ({@link StoreException.Held}), and a file that is damaged, foreign or of a newer version.
     *
     * @param domain the edge's domain, which makes the runtimes' hosts
     * @param force whether a present database that can't be read may be put aside all the same; nothing can tell then
     *     whether a server uses it
     */
    public Mono<Restored> restore(Path from, String domain, boolean force) {
        return blocking(from, () -> {
            SqliteDatabase.makeFolder(file);
            Path part = SqliteCopy.temporary(file.toAbsolutePath().getParent());
            try {
                try (var target = Files.newOutputStream(part)) {
                    Files.copy(from, target);
                }
                prepare(part, domain, 0);
                int runtimes = prepare(part, domain, Files.exists(file) ? endOfUse(force) : 0);
                Path inboxFrom = Path.of(from + INBOX);
                boolean withInbox = InboxBackup.isThere(inboxFrom);
                if (withInbox) {
                    InboxBackup.restore(inboxFrom, inbox, INBOX_FOLDER + ".before-restore-"
                            + STAMP.format(Instant.now(clock)), clock);
                }
                Path before = Files.exists(file) ? putAside() : null;
                SqliteCopy.finish(part, file);
                return new Restored(runtimes, before, withInbox);
            } finally {
                SqliteCopy.deleteAll(part);
            }
        });
    }

    private static <T> Mono<T> blocking(Path subject, Callable<T> work) {
        return Mono.fromCallable(work)
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(subject, failed))
                .onErrorMap(IllegalArgumentException.class, failed -> DatabaseProblem.of(subject, failed))
                .onErrorMap(IOException.class, failed -> DatabaseProblem.of(subject, failed));
    }

    /** Makes sure that nobody uses the database any more, nor begins to. Returns its mark of generations. */
    private long endOfUse(boolean force) throws SQLException {
        try (Connection old = SqliteDatabase.connect(file)) {
            SqliteSchema.refuseForeign(old);
            var lease = new SqliteLease(file, clock);
            long ceiling = SqliteDatabase.transaction(old, connection -> {
                lease.take(connection);
                return SqliteGenerations.ceiling(connection);
            });
            // Fails while another process has the file open: that would go on in a file that is not the database any more.
            SqliteCopy.oneFile(old);
            return ceiling;
        } catch (SQLException unusable) {
            if (!force || DatabaseProblem.isLock(unusable)) {
                throw new StoreException.Failed(DatabaseProblem.of(file, unusable).getMessage()
                        + "; if no server uses it, --force puts it aside as it is", unusable);
            }
            return 0;
        }
    }

    private static int prepare(Path part, String domain, long ceiling) throws SQLException {
        try (Connection copy = SqliteDatabase.connect(part)) {
            ServerSchema.SCHEMA.requireOwn(copy);
            SqliteCopy.checkWhole(copy);
            int runtimes = SqliteDatabase.transaction(copy, connection -> {
                ServerSchema.SCHEMA.migrate(connection);
                SqliteLease.free(connection);
                SqliteGenerations.raise(connection, ceiling);
                return SqliteRuntimeStore.load(connection, domain, StoreLimits.defaults()).runtimes().size();
            });
            SqliteCopy.oneFile(copy);
            return runtimes;
        }
    }

    private Path putAside() throws IOException {
        Path aside = beside("before-restore-" + STAMP.format(Instant.now(clock)));
        // A second name first: at no moment is there no database, which a server would take for its first start.
        Files.createLink(aside, file);
        for (String suffix : new String[]{"-wal", "-shm"}) {
            Path journal = Path.of(file + suffix);
            if (Files.exists(journal)) {
                Files.move(journal, Path.of(aside + suffix));
            }
        }
        return aside;
    }

    private Path beside(String suffix) {
        return file.resolveSibling(file.getFileName() + "." + suffix);
    }
}
