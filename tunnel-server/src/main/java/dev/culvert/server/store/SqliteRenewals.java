package dev.culvert.server.store;

import dev.culvert.certs.Sha256;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The table of keys that a renewal replaced, each with its successor. Runs in the caller's transaction. A row
 * is kept for as long as a certificate of its key could be renewed.
 */
public final class SqliteRenewals {
    /**
     * The maximum number of rows of a runtime: a certificate with a lifetime of a day is renewed some 50
     * times before its first row expires.
     */
    public static final int MAX_OF_RUNTIME = 256;

    private SqliteRenewals() {}

    /**
     * Throws {@link StoreException.Conflict} if another key has replaced this one, or may have, because rows
     * were deleted.
     */
    static void note(Connection connection, String runtimeId, Sha256 key, Sha256 successor, Instant until,
            Instant now) throws SQLException {
        SqliteDatabase.update(connection, "DELETE FROM renewals WHERE until < ?", now.toEpochMilli());
        Sha256 before = successorOf(connection, runtimeId, key);
        if (before == null) {
            makeRoom(connection, runtimeId, until);
        } else if (!before.equals(successor)) {
            throw new StoreException.Conflict("the certificate's key was renewed by another key before");
        }
        SqliteDatabase.update(connection, """
                INSERT INTO renewals (runtime_id, key, successor, until) VALUES (?, ?, ?, ?)
                ON CONFLICT (runtime_id, key) DO UPDATE SET until = max(until, excluded.until)""",
                runtimeId, key.bytes(), successor.bytes(), until.toEpochMilli());
    }

    private static @Nullable Sha256 successorOf(Connection connection, String runtimeId, Sha256 key)
            throws SQLException {
        try (PreparedStatement statement = connection
                .prepareStatement("SELECT successor FROM renewals WHERE runtime_id = ? AND key = ?")) {
            statement.setString(1, runtimeId);
            statement.setBytes(2, key.bytes());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Sha256.from(row.getBytes(1)) : null;
            }
        }
    }

    /**
     * Deletes the oldest row of a full table. Refuses a key older than all rows, because its row may have
     * been deleted.
     */
    private static void makeRoom(Connection connection, String runtimeId, Instant until) throws SQLException {
        try (PreparedStatement statement = connection
                .prepareStatement("SELECT count(*), min(until) FROM renewals WHERE runtime_id = ?")) {
            statement.setString(1, runtimeId);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                if (row.getInt(1) < MAX_OF_RUNTIME) {
                    return;
                }
                if (until.toEpochMilli() <= row.getLong(2)) {
                    throw new StoreException.Conflict(
                            "the certificate is older than all renewals that are remembered");
                }
            }
        }
        SqliteDatabase.update(connection, """
                DELETE FROM renewals WHERE rowid =
                  (SELECT rowid FROM renewals WHERE runtime_id = ? ORDER BY until LIMIT 1)""", runtimeId);
    }
}
