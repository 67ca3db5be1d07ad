package dev.culvert.server;

import dev.culvert.edge.sqlite.DatabaseTrouble;
import dev.culvert.edge.sqlite.SqliteDatabase;
import dev.culvert.edge.sqlite.SqliteLease;
import dev.culvert.edge.sqlite.SqliteSchema;
import dev.culvert.edge.sqlite.StoreException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Copies a server's database to one file, also while the server runs, and puts such a file in the database's place. All
 * work is done on the bounded elastic scheduler, once its {@code Mono} is subscribed; cancelling does not stop it. Errors:
 * {@link StoreException}.
 */
public final class StoreBackup {
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'")
            .withZone(ZoneOffset.UTC);

    private final Path file;
    private final Clock clock;

    /** Of the database in a data folder. */
    public StoreBackup(Path dataDir, Clock clock) {
        this.file = dataDir.resolve(SqliteRuntimeStore.FILE);
        this.clock = clock;
    }

    /**
     * What was restored.
     *
     * @param runtimes how many runtimes the database holds now
     * @param before the database that was there before; null when there was none
     */
    public record Restored(int runtimes, @Nullable Path before) {}

    /**
     * Writes what the database holds now to a new file, mode 0600: whole, checked and on the disk, or not at all. A
     * running server goes on meanwhile. Emits the file.
     */
    public Mono<Path> backup(Path to) {
        return blocking(file, () -> {
            if (Files.notExists(file)) {
                throw new SQLException("it is not there (expected: the dataDir of a server)");
            }
            if (Files.exists(to)) {
                throw new StoreException.Conflict(to + " exists already (expected: the name of a new file)");
            }
            Path part = temporary(to.toAbsolutePath().getParent());
            try {
                copyInto(part);
                finish(part, to);
            } finally {
                deleteAll(part);
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
            Path part = temporary(file.toAbsolutePath().getParent());
            try {
                try (var target = Files.newOutputStream(part)) {
                    Files.copy(from, target);
                }
                prepare(part, domain, 0);
                int runtimes = prepare(part, domain, Files.exists(file) ? endOfUse(force) : 0);
                Path before = Files.exists(file) ? putAside() : null;
                finish(part, file);
                return new Restored(runtimes, before);
            } finally {
                deleteAll(part);
            }
        });
    }

    private static <T> Mono<T> blocking(Path subject, Callable<T> work) {
        return Mono.fromCallable(work)
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SQLException.class, failed -> DatabaseTrouble.of(subject, failed))
                .onErrorMap(IllegalArgumentException.class, failed -> DatabaseTrouble.of(subject, failed))
                .onErrorMap(IOException.class, failed -> DatabaseTrouble.of(subject, failed));
    }

    private void copyInto(Path part) throws SQLException {
        try (Connection live = SqliteDatabase.connect(file)) {
            SqliteSchema.refuseForeign(live);
            try (PreparedStatement vacuum = live.prepareStatement("VACUUM INTO ?")) {
                vacuum.setString(1, part.toString());
                vacuum.execute();
            }
        }
        try (Connection copy = SqliteDatabase.connect(part)) {
            checkWhole(copy);
            SqliteLease.free(copy);
            oneFile(copy);
        }
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
            oneFile(old);
            return ceiling;
        } catch (SQLException unusable) {
            if (!force || DatabaseTrouble.isLock(unusable)) {
                throw new StoreException.Failed(DatabaseTrouble.of(file, unusable).getMessage()
                        + "; if no server uses it, --force puts it aside as it is", unusable);
            }
            return 0;
        }
    }

    private static int prepare(Path part, String domain, long ceiling) throws SQLException {
        try (Connection copy = SqliteDatabase.connect(part)) {
            ServerSchema.SCHEMA.requireOwn(copy);
            checkWhole(copy);
            int runtimes = SqliteDatabase.transaction(copy, connection -> {
                ServerSchema.SCHEMA.migrate(connection);
                SqliteLease.free(connection);
                SqliteGenerations.raise(connection, ceiling);
                return SqliteRuntimeStore.load(connection, domain, StoreLimits.defaults()).runtimes().size();
            });
            oneFile(copy);
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

    private static void checkWhole(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA integrity_check(1)")) {
            String found = row.next() ? row.getString(1) : "no answer";
            if (!"ok".equals(found)) {
                throw new SQLException("it is damaged (" + found.replace('\n', ' ') + ")");
            }
        }
    }

    /** Leaves the journal: what was committed is in the file alone. */
    private static void oneFile(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA journal_mode = DELETE")) {
            if (!row.next() || !"delete".equals(row.getString(1))) {
                throw new StoreException.Held("the database is open in another process; end that first");
            }
        }
    }

    private static Path temporary(@Nullable Path folder) throws IOException {
        if (folder == null) {
            throw new IOException("no folder");
        }
        return Files.createTempFile(folder, ".culvert-", ".part",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    private static void finish(Path part, Path to) throws IOException {
        sync(part, StandardOpenOption.WRITE);
        Files.move(part, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Path folder = to.toAbsolutePath().getParent();
        if (folder != null) {
            sync(folder, StandardOpenOption.READ);
        }
    }

    private static void sync(Path path, StandardOpenOption how) throws IOException {
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }

    private static void deleteAll(Path part) throws IOException {
        for (String suffix : new String[]{"", "-wal", "-shm", "-journal"}) {
            Files.deleteIfExists(Path.of(part + suffix));
        }
    }
}
