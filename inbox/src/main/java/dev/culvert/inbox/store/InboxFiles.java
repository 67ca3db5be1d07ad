package dev.culvert.inbox.store;

import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.SqliteSchema;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;

/**
 * The open files of an inbox. Opening repairs them: changes that a crash interrupted are undone.
 *
 * @param file the database's file
 * @param writes the connection that writes
 * @param reads a read-only connection for deliveries
 * @param queries a read-only connection for operators
 * @param spool the folder of large bodies
 * @param lease the lease of the right to deliver, not taken yet
 * @param known the sequence number of the newest webhook
 * @param room the disk space that webhooks may still take
 */
public record InboxFiles(Path file, Connection writes, Connection reads, Connection queries,
        SpoolFolder spool,
        SqliteLease lease,
        long known, DiskRoom room) {
    /** The name of the database's file in the inbox's folder. */
    public static final String FILE = "inbox.db";
    static final String SPOOL = "spool";
    /** The number of pages between checkpoints, 16 MiB: each checkpoint costs an fsync of its own. */
    private static final int CHECKPOINT_PAGES = 4000;

    /** Returns these files with another room. */
    InboxFiles with(DiskRoom other) {
        return new InboxFiles(file, writes, reads, queries, spool, lease, known, other);
    }

    /** Opens the inbox of a folder. Blocks. Throws {@link StoreException.Failed}. */
    public static InboxFiles open(Path folder, Clock clock) {
        Path file = folder.resolve(FILE);
        try {
            SqliteDatabase.makeFolder(file);
            SqliteDatabase.makeFile(file);
            InboxVacuum.prepare(file);
            Connection writes = SqliteDatabase.connect(file);
            try {
                return open(folder, file, writes, clock);
            } catch (SQLException | IOException | RuntimeException failed) {
                writes.close();
                throw failed;
            }
        } catch (SQLException | IOException failed) {
            throw DatabaseProblem.of(file, failed);
        }
    }

    private static InboxFiles open(Path folder, Path file, Connection writes, Clock clock)
            throws SQLException, IOException {
        long known = SqliteDatabase.transaction(writes, own -> {
            SqliteSchema.refuseForeign(own);
            SqliteSchema.check(own);
            InboxSchema.SCHEMA.migrate(own);
            SqliteLease.prepare(own);
            try (var statements = new Statements(own)) {
                return statements.number("SELECT last FROM sequence");
            }
        });
        try (Statement statement = writes.createStatement()) {
            statement.execute("PRAGMA wal_autocheckpoint = " + CHECKPOINT_PAGES);
        }
        DiskRoom room = DiskRoom.of(folder);
        InboxVacuum.convert(file, writes, clock);
        SpoolFolder spool = SpoolFolder.open(folder.resolve(SPOOL));
        try (var statements = new Statements(writes)) {
            spool.removeOrphans(
                    name -> statements.number("SELECT count(*) FROM webhooks WHERE spool = ?", name) > 0);
        }
        return new InboxFiles(file, writes, SqliteDatabase.connect(file), SqliteDatabase.connect(file), spool,
                new SqliteLease(file, clock),
                known, room);
    }
}
