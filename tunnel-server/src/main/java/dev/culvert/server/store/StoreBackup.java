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
 * Backs up a server's database to one file and its inbox to a folder beside it, also while the server runs,
 * and restores both. All work runs on the bounded elastic scheduler, once its {@code Mono} is subscribed;
 * cancelling does not stop it. Errors: {@link StoreException}.
 */
public final class StoreBackup {
    /** The inbox's folder in the data directory. */
    public static final String INBOX_FOLDER = "inbox";

    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'")
            .withZone(ZoneOffset.UTC);

    /** The suffix of the folder with a backup's inbox, after the name of the backup's file. */
    private static final String INBOX = ".inbox";

    private final Path file;
    private final Path inbox;
    private final Clock clock;

    /** Makes the backup of the database in a data folder. */
    public StoreBackup(Path dataDir, Clock clock) {
        this.file = dataDir.resolve(SqliteRuntimeStore.FILE);
        this.inbox = dataDir.resolve(INBOX_FOLDER);
        this.clock = clock;
    }

    /**
     * The result of a restore.
     *
     * @param runtimes the number of runtimes in the restored database
     * @param before the file of the previous database; null when there was none
     * @param inbox whether webhooks were restored
     */
    public record Restored(int runtimes, @Nullable Path before, boolean inbox) {}

    /**
     * Writes the present database to a new file, mode 0600, and the inbox, if there is one, to a new folder
     * with that name and {@code .inbox}. The copies are complete, checked and on the disk, or absent. The
     * inbox is copied first, so the file contains the runtime of each webhook. A running server goes on
     * meanwhile. Emits the file.
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
     * Replaces the database by a backup and keeps the previous database under another name. Refuses while a
     * server holds the database ({@link StoreException.Held}). Refuses a file that is damaged, foreign or of
     * a newer version.
     *
     * @param domain the edge's domain, the suffix of the runtimes' hosts
     * @param force whether to put aside a present database that can't be read; then it is unknown whether a
     *        server uses it
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

    /** Ensures that no process uses the database or begins to. Returns its generation mark. */
    private long endOfUse(boolean force) throws SQLException {
        try (Connection old = SqliteDatabase.connect(file)) {
            SqliteSchema.refuseForeign(old);
            var lease = new SqliteLease(file, clock);
            long ceiling = SqliteDatabase.transaction(old, connection -> {
                lease.take(connection);
                return SqliteGenerations.ceiling(connection);
            });
            // Fails while another process has the file open: it would go on writing a file that is no longer
            // the database.
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
        // Link a second name first: without a database at any moment, a server would assume its first start.
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
