package dev.culvert.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;

/**
 * What the processes around a {@link SqliteLease} tell each other, in a table beside it: that one waits for
 * the lease, and that its holder serves. All methods block and run in the caller's transaction.
 */
final class LeaseNotes {
    /** The time for which a process counts as waiting after its last note. */
    static final Duration WAITING = Duration.ofSeconds(3);

    /** Not part of the versioned schema, as the lease is not. Never edited. */
    private static final String TABLE = """
            CREATE TABLE IF NOT EXISTS lease_notes (
              name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT""";

    private LeaseNotes() {}

    /** A process waits for the lease. */
    static void waiting(Connection connection, Instant now) throws SQLException {
        put(connection, "waiting", now.plus(WAITING).toEpochMilli());
    }

    /**
     * The process with this fencing number has taken the lease, and will note when it serves. Others that
     * wait say so again.
     */
    static void taken(Connection connection, long fence) throws SQLException {
        put(connection, "waiting", 0);
        put(connection, "starting", fence);
    }

    /** The holder with this fencing number serves. */
    static void serving(Connection connection, long fence) throws SQLException {
        put(connection, "serving", fence);
    }

    /** Whether a process waits for the lease. */
    static boolean isAwaited(Connection connection, Instant now) throws SQLException {
        return read(connection, "waiting") > now.toEpochMilli();
    }

    /** The fencing number of the last holder that notes when it serves; 0 for none. */
    static long starting(Connection connection) throws SQLException {
        return read(connection, "starting");
    }

    /** The fencing number of the last holder that served; 0 for none. */
    static long serving(Connection connection) throws SQLException {
        return read(connection, "serving");
    }

    private static void put(Connection connection, String name, long value) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(TABLE);
        }
        SqliteDatabase.update(connection, "INSERT OR REPLACE INTO lease_notes VALUES (?, ?)", name, value);
    }

    private static long read(Connection connection, String name) throws SQLException {
        try (PreparedStatement statement = connection
                .prepareStatement("SELECT value FROM lease_notes WHERE name = ?")) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getLong(1) : 0;
            }
        }
    }
}
