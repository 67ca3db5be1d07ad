package dev.culvert.inbox.store;

import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteLease;
import dev.culvert.store.SqliteSchema;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open files of an inbox. Opening repairs them: changes that a crash interrupted are undone.
 *
 * @param file the database's file
 * @param writes the connection that writes
 * @param reads a read-only connection for deliveries
 * @param queries a read-only connection for operators
 * @param spool the folder of large bodies
 * @param lease the lease of the right to deliver, not taken yet
 * @param mark the second place of that number
 * @param known the sequence number of the newest webhook
 * @param lost the number of acknowledged webhooks that the database has lost
 * @param room the disk space that webhooks may still take
 */
public record InboxFiles(Path file, Connection writes, Connection reads, Connection queries,
        SpoolFolder spool,
        SqliteLease lease,
        SequenceMark mark, long known, long lost, DiskRoom room) {
    private static final Logger log = LoggerFactory.getLogger(InboxFiles.class);
    /** The name of the database's file in the inbox's folder. */
    public static final String FILE = "inbox.db";
    static final String SPOOL = "spool";
    /** The number of pages between checkpoints, 16 MiB: each checkpoint costs an fsync of its own. */
    private static final int CHECKPOINT_PAGES = 4000;

    /** Returns these files with another room. */
    InboxFiles with(DiskRoom other) {
        return new InboxFiles(file, writes, reads, queries, spool, lease, mark, known, lost, other);
    }

    /** Opens the inbox of a folder. Blocks. Throws {@link StoreException.Failed}. */
    public static InboxFiles open(Path folder, Clock clock) {
        Path file = folder.resolve(FILE);
        try {
            SqliteDatabase.makeFolder(file);
            requireContent(folder, file);
            SqliteDatabase.makeFile(file);
            InboxVacuum.prepare(file);
            SequenceMark mark = SequenceMark.open(folder); // first: it never exceeds what is committed
            try {
                return open(folder, file, mark, clock);
            } catch (SQLException | IOException | RuntimeException failed) {
                mark.close();
                throw failed;
            }
        } catch (SQLException | IOException failed) {
            throw DatabaseProblem.of(file, failed);
        }
    }

    /** Refuses to begin anew where webhooks were stored: an empty file would hide that they are lost. */
    private static void requireContent(Path folder, Path file) throws IOException {
        boolean empty = Files.notExists(file) || Files.size(file) == 0;
        if (empty && (Files.exists(folder.resolve(SequenceMark.FILE))
                || SpoolFolder.holdsBodies(folder.resolve(SPOOL)))) {
            throw DatabaseProblem.of(file, new IllegalStateException("it is empty or missing, but its folder"
                    + " shows that webhooks were stored; restore a backup, or remove the folder to begin anew"));
        }
    }

    private static InboxFiles open(Path folder, Path file, SequenceMark mark, Clock clock)
            throws SQLException, IOException {
        Connection writes = SqliteDatabase.connect(file);
        try {
            return open(folder, file, mark, writes, clock);
        } catch (SQLException | IOException | RuntimeException failed) {
            writes.close();
            throw failed;
        }
    }

    private static InboxFiles open(Path folder, Path file, SequenceMark mark, Connection writes, Clock clock)
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
        long lost = Math.max(0, mark.atStart() - known);
        if (lost > 0) {
            log.atError()
                    .addKeyValue("file", file)
                    .addKeyValue("webhooks", lost)
                    .log("acknowledged webhooks are lost: the database's write-ahead log is damaged or missing");
            mark.write(known);
        }
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
                new SqliteLease(file, clock), mark,
                known, lost, room);
    }
}
