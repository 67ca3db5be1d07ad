package dev.culvert.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * The tables of a database, by version. All methods block and run in the caller's transaction.
 *
 * @param versions for each version the statements that create it from the one before, version 1 from an empty
 *     database. A released version is never edited
 * @param table a table that exists since version 1 and distinguishes this schema from other schemas of
 *     Culvert
 */
public record SqliteSchema(List<List<String>> versions, String table) implements DatabaseSchema {
    public SqliteSchema {
        versions = List.copyOf(versions);
    }

    @Override
    public void migrate(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT");
            int version = version(statement);
            if (version > versions.size()) {
                throw new SQLException("it has schema version " + version
                        + ", which a newer culvert wrote (expected: at"
                        + " most " + versions.size() + "; run that culvert, or restore a backup of before)");
            }
            for (List<String> changes : versions.subList(version, versions.size())) {
                for (String change : changes) {
                    statement.execute(change);
                }
            }
            statement.execute("DELETE FROM schema_version");
            statement.execute("INSERT INTO schema_version VALUES (" + versions.size() + ")");
        }
    }

    /**
     * Throws if the database holds tables of another program. Called before anything is written. A database
     * with nothing but a lease is one whose first start ended before its tables were made.
     */
    public static void refuseForeign(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT count(*), coalesce(sum(name = 'schema_version'), 0)"
                                + " FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
                                + " AND name NOT IN ('lease', 'lease_notes')")) {
            if (row.next() && row.getInt(1) > 0 && row.getInt(2) == 0) {
                throw new SQLException(
                        "it holds tables of another program (expected: a database of Culvert's, or"
                                + " none: name another folder)");
            }
        }
    }

    /** Throws unless the database has this schema in any version. */
    public void requireOwn(Connection connection) throws SQLException {
        if (!has(connection, "schema_version") || !has(connection, table)) {
            throw new SQLException("it holds no " + table
                    + " of Culvert's (expected: a file that culvert server backup wrote)");
        }
    }

    /** Whether a table of that name exists. */
    public static boolean has(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement = connection
                .prepareStatement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")) {
            statement.setString(1, table);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Throws if the file is damaged, because further use would lose more data. Reads the whole file. */
    public static void check(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("PRAGMA quick_check(1)")) {
            String found = row.next() ? row.getString(1) : "no answer";
            if (!"ok".equals(found)) {
                throw new SQLException("it is damaged (" + found.replace('\n', ' ')
                        + "; expected: a database that passes PRAGMA quick_check: restore a backup with culvert"
                        + " server restore)");
            }
        }
    }

    private static int version(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT max(version) FROM schema_version")) {
            return row.next() ? row.getInt(1) : 0;
        }
    }
}
