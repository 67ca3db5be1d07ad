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
 * The files of an inbox, opened and made whole: what a crash left half done is undone.
 *
 * @param file of the database
 * @param writes the connection that changes it
 * @param reads another, that only reads, for deliveries
 * @param queries a third, for operators
 * @param spool the folder of large bodies
 * @param lease the right to deliver, not taken yet
 * @param known the newest webhook
 * @param room what webhooks may still take of the disk
 */
public record InboxFiles(Path file, Connection writes, Connection reads, Connection queries,
        SpoolFolder spool,
        SqliteLease lease,
        long known, DiskRoom room) {
    /** The database of an inbox, in its folder. */
    public static final String FILE = "inbox.db";
    static final String SPOOL = "spool";
    /** Pages between checkpoints, 16 MiB: each costs an fsync of its own. */
    private static final int CHECKPOINT_PAGES = 4000;

    /** These files with another disk's room. */
    InboxFiles with(DiskRoom other) {
        return new InboxFiles(file, writes, reads, queries, spool, lease, known, other);
    }

    /** Blocks. Throws {@link StoreException.Failed}. */
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
