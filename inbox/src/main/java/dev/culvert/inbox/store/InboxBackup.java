package dev.culvert.inbox.store;

import dev.culvert.store.SqliteCopy;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.SqliteSchema;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Copies an inbox in use to a new folder, and replaces an inbox out of use with such a copy. A copy is
 * consistent: the database after one transaction, with the large bodies that it names. All methods block.
 */
public final class InboxBackup {
    /** The number of attempts that may have been made since the copy. Their numbers are not used again. */
    private static final int ATTEMPTS_SINCE = 1000;

    private InboxBackup() {}

    /** Whether a folder holds an inbox. */
    public static boolean isThere(Path folder) {
        return Files.exists(folder.resolve(InboxFiles.FILE));
    }

    /**
     * Copies the inbox of a folder to {@code to}, which is created for its owner alone. The copy is complete,
     * checked and on disk, or does not exist.
     */
    public static void copy(Path folder, Path to) throws SQLException, IOException {
        Path part = newFolderBeside(to);
        try {
            Path copied = part.resolve(InboxFiles.FILE);
            SqliteDatabase.makeFile(copied);
            try (Connection live = SqliteDatabase.connect(folder.resolve(InboxFiles.FILE));
                    PreparedStatement vacuum = live.prepareStatement("VACUUM INTO ?")) {
                SqliteSchema.refuseForeign(live);
                vacuum.setString(1, copied.toString());
                vacuum.execute();
            }
            try (Connection copy = SqliteDatabase.connect(copied); var statements = new Statements(copy)) {
                SqliteSchema.check(copy);
                copyBodies(folder, part, statements);
                SqliteLease.free(copy);
                SqliteCopy.oneFile(copy);
            }
            sync(part);
            Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
            sync(parent(to));
        } finally {
            delete(part);
        }
    }

    /**
     * Copies the large bodies. Rows whose body was removed meanwhile, because they were delivered or deleted,
     * are left out.
     */
    private static void copyBodies(Path folder, Path part, Statements copy) throws SQLException, IOException {
        boolean left = false;
        for (String name : copy.list("SELECT spool FROM webhooks WHERE spool IS NOT NULL",
                row -> row.getString(1))) {
            Path body = part.resolve(InboxFiles.SPOOL).resolve(name);
            Files.createDirectories(parent(body), ownersAlone());
            try {
                Files.copy(folder.resolve(InboxFiles.SPOOL).resolve(name), body,
                        StandardCopyOption.COPY_ATTRIBUTES);
                try (FileChannel channel = FileChannel.open(body, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
            } catch (NoSuchFileException gone) {
                copy.update("DELETE FROM contents WHERE seq IN (SELECT seq FROM webhooks WHERE spool = ?)",
                        name);
                copy.update("DELETE FROM webhooks WHERE spool = ?", name);
                left = true;
            }
        }
        if (left) {
            copy.update("DELETE FROM usage");
            copy.update("INSERT INTO usage SELECT runtime, source, state, count(*), sum(cost) FROM webhooks"
                    + " GROUP BY runtime, source, state");
            copy.update("INSERT INTO usage SELECT runtime, '', state, count(*), sum(cost) FROM webhooks"
                    + " GROUP BY runtime, state");
        }
    }

    /**
     * Replaces the inbox of a folder with a copy. Its pending webhooks are delivered, including those that
     * were delivered since the copy, under new attempt numbers. Returns the folder in which the previous
     * inbox is kept; null: there was none. Throws {@link StoreException.Held} while a process uses the
     * previous inbox.
     *
     * @param aside the new name of the previous inbox's folder
     */
    public static @Nullable Path restore(Path from, Path folder, String aside, Clock clock)
            throws SQLException, IOException {
        Path part = newFolderBeside(folder);
        try {
            copyFolder(from, part);
            try (Connection copy = SqliteDatabase.connect(part.resolve(InboxFiles.FILE))) {
                InboxSchema.SCHEMA.requireOwn(copy);
                SqliteSchema.check(copy);
                SqliteDatabase.transaction(copy, own -> {
                    InboxSchema.SCHEMA.migrate(own);
                    SqliteLease.free(own);
                    return SqliteDatabase.update(own, "UPDATE webhooks SET begun = begun + ? WHERE state = 0",
                            ATTEMPTS_SINCE);
                });
                SqliteCopy.oneFile(copy);
            }
            sync(part);
            Path before = null;
            if (isThere(folder)) {
                endOfUse(folder.resolve(InboxFiles.FILE), clock);
                before = folder.resolveSibling(aside);
                Files.move(folder, before, StandardCopyOption.ATOMIC_MOVE);
            } else {
                Files.deleteIfExists(folder);
            }
            Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE);
            sync(parent(folder));
            return before;
        } finally {
            delete(part);
        }
    }

    private static void endOfUse(Path file, Clock clock) throws SQLException {
        try (Connection old = SqliteDatabase.connect(file)) {
            var lease = new SqliteLease(file, clock);
            SqliteDatabase.transaction(old, own -> {
                lease.take(own);
                lease.giveBack(own);
                return own;
            });
            // Fails while another process has the file open.
            SqliteCopy.oneFile(old);
        }
    }

    private static void copyFolder(Path from, Path to) throws IOException {
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes any)
                    throws IOException {
                Files.createDirectories(to.resolve(from.relativize(folder).toString()), ownersAlone());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes any) throws IOException {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
                try (FileChannel channel = FileChannel.open(copy, StandardOpenOption.WRITE)) {
                    channel.force(true);
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static Path newFolderBeside(Path path) throws IOException {
        return Files.createDirectory(parent(path).resolve(".culvert-" + UUID.randomUUID() + ".part"),
                ownersAlone());
    }

    private static FileAttribute<?> ownersAlone() {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    }

    private static Path parent(Path path) throws IOException {
        Path parent = path.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IOException("no folder");
        }
        return parent;
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Deletes a copy that was not moved into its place. */
    private static void delete(Path part) throws IOException {
        if (Files.notExists(part)) {
            return;
        }
        List<Path> all;
        try (var files = Files.walk(part)) {
            all = files.toList().reversed();
        }
        for (Path one : all) {
            Files.deleteIfExists(one);
        }
    }
}
