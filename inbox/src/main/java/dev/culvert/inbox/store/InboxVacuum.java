package dev.culvert.inbox.store;

import dev.culvert.store.SqliteDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shrinks the database's file when webhooks are deleted: SQLite moves pages from its end to free places, some
 * at a time (sqlite.org/pragma.html#pragma_auto_vacuum). All methods block.
 */
final class InboxVacuum {
    private static final Logger log = LoggerFactory.getLogger(InboxVacuum.class);
    private static final int INCREMENTAL = 2;
    /** The number of free pages kept, 4 MiB: the next webhooks need them. */
    static final int SLACK = 1024;
    /** The number of pages moved in one transaction, during which other tasks wait. */
    static final int CHUNK = 256;
    /**
     * The maximum bytes rewritten at a start beside another process. The rewrite takes less time than that
     * process waits for the lock.
     */
    private static final long SMALL = 32L << 20;
    private static final long LARGE = 512L << 20;

    private InboxVacuum() {}

    /**
     * Makes an empty file a database that can shrink. SQLite needs this setting before the first page is
     * written.
     */
    static void prepare(Path file) throws SQLException, IOException {
        if (Files.size(file) > 0) {
            return;
        }
        try (Connection fresh = DriverManager.getConnection("jdbc:sqlite:" + file.toAbsolutePath());
                Statement statement = fresh.createStatement()) {
            statement.executeUpdate("PRAGMA auto_vacuum = " + INCREMENTAL);
            SqliteDatabase.transaction(fresh, own -> statement
                    .executeUpdate(
                            "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT"));
        }
    }

    /**
     * Rewrites the file of an older version, so that it can shrink from now on. SQLite does this completely
     * or not at all. A large file is rewritten only while no other process delivers, and only if the disk has
     * room for a copy. Otherwise a later start tries again.
     */
    static void convert(Path file, Connection writes, Clock clock) throws SQLException, IOException {
        try (var statements = new Statements(writes)) {
            if (canShrink(statements)) {
                return;
            }
            long size = Files.size(file);
            boolean alone = statements.number("SELECT coalesce(max(until), 0) FROM lease") < clock.millis();
            boolean room = Files.getFileStore(file).getUsableSpace() > 3 * size;
            if (size > (alone ? LARGE : SMALL) || !room) {
                log.atWarn()
                        .addKeyValue("bytes", size)
                        .log("inbox file can't shrink yet: too large to be rewritten now");
                return;
            }
        }
        try (Statement statement = writes.createStatement()) {
            statement.executeUpdate("PRAGMA auto_vacuum = " + INCREMENTAL);
            statement.executeUpdate("VACUUM");
        } catch (SQLException busy) {
            log.atWarn().addKeyValue("reason", busy.getMessage()).log("inbox file can't shrink yet");
        }
    }

    private static boolean canShrink(Statements statements) throws SQLException {
        return statements.number("PRAGMA auto_vacuum") == INCREMENTAL;
    }

    /** Returns some free pages to the disk, in the caller's transaction. Returns whether there are more. */
    static boolean step(Transaction tx) throws SQLException {
        Statements statements = tx.statements();
        long free = statements.number("PRAGMA freelist_count");
        if (free <= SLACK || !canShrink(statements)) {
            return false;
        }
        try (Statement statement = statements.connection().createStatement()) {
            // A prepared statement would move only one page for each of its steps.
            statement.executeUpdate("PRAGMA incremental_vacuum(" + Math.min(CHUNK, free - SLACK) + ")");
        }
        return statements.number("PRAGMA freelist_count") > SLACK;
    }
}
