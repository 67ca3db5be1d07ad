package dev.culvert.store;

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
import org.jspecify.annotations.Nullable;

/**
 * Copies databases that may be in use. A copy is a consistent snapshot in one file of mode 0600 with a free
 * lease. All methods block.
 */
public final class SqliteCopy {
    private SqliteCopy() {}

    /**
     * Writes the present content of database {@code file} to the new file {@code to}. The copy is complete,
     * checked and synced to the disk, or does not exist. Throws {@link StoreException.Conflict} if {@code to}
     * exists.
     */
    public static void write(Path file, Path to) throws SQLException, IOException {
        requireNew(to);
        Path part = temporary(to.toAbsolutePath().getParent());
        try {
            into(part, file);
            finish(part, to);
        } finally {
            deleteAll(part);
        }
    }

    /** Throws {@link StoreException.Conflict} if a file or folder of this name exists. */
    public static void requireNew(Path to) {
        if (Files.exists(to)) {
            throw new StoreException.Conflict(to + " exists already (expected: the name of a new file)");
        }
    }

    /** Copies database {@code file} into the empty file {@code part} and checks the copy. */
    public static void into(Path part, Path file) throws SQLException {
        if (Files.notExists(file)) {
            throw new SQLException("it is not there (expected: the dataDir of a part that has run)");
        }
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

    /** Throws if the file is damaged. Reads the whole file, including indexes. */
    public static void checkWhole(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA integrity_check(1)")) {
            String found = row.next() ? row.getString(1) : "no answer";
            if (!"ok".equals(found)) {
                throw new SQLException("it is damaged (" + found.replace('\n', ' ') + ")");
            }
        }
    }

    /**
     * Leaves WAL mode, so that one file holds all committed data. Throws {@link StoreException.Held} while
     * another process has the file open.
     */
    public static void oneFile(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA journal_mode = DELETE")) {
            if (!row.next() || !"delete".equals(row.getString(1))) {
                throw new StoreException.Held("the database is open in another process; end that first");
            }
        }
    }

    /** Creates an empty file in {@code folder} that only its owner can access. */
    public static Path temporary(@Nullable Path folder) throws IOException {
        if (folder == null) {
            throw new IOException("no folder");
        }
        return Files.createTempFile(folder, ".culvert-", ".part",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    /** Renames a complete file to its final name and syncs the rename to the disk. */
    public static void finish(Path part, Path to) throws IOException {
        sync(part, StandardOpenOption.WRITE);
        Files.move(part, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Path folder = to.toAbsolutePath().getParent();
        if (folder != null) {
            sync(folder, StandardOpenOption.READ);
        }
    }

    /** Deletes a temporary database and its journals, if they exist. */
    public static void deleteAll(Path part) throws IOException {
        for (String suffix : new String[]{"", "-wal", "-shm", "-journal"}) {
            Files.deleteIfExists(Path.of(part + suffix));
        }
    }

    private static void sync(Path path, StandardOpenOption how) throws IOException {
        try (FileChannel channel = FileChannel.open(path, how)) {
            channel.force(true);
        }
    }
}
