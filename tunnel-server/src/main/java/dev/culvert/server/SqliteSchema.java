package dev.culvert.server;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The database's tables, by version. A version that was released is never edited: the next one changes its tables. */
final class SqliteSchema {
    private static final List<List<String>> VERSIONS = List.of(List.of("""
            CREATE TABLE runtimes (
              id TEXT PRIMARY KEY, account TEXT NOT NULL, name TEXT NOT NULL,
              label TEXT NOT NULL UNIQUE, created INTEGER NOT NULL, UNIQUE (account, name)) STRICT""", """
            CREATE TABLE custom_hosts (
              host TEXT PRIMARY KEY, runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
              position INTEGER NOT NULL) STRICT""", """
            CREATE TABLE tokens (
              id TEXT PRIMARY KEY, hash BLOB NOT NULL,
              runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
              expires INTEGER NOT NULL, used_by BLOB) STRICT""",
            "CREATE INDEX custom_hosts_of_runtime ON custom_hosts (runtime_id)",
            "CREATE INDEX tokens_of_runtime ON tokens (runtime_id)"),
            List.of("ALTER TABLE runtimes ADD COLUMN identity TEXT NOT NULL DEFAULT ''",
                    "UPDATE runtimes SET identity = id",
                    "CREATE UNIQUE INDEX runtimes_by_identity ON runtimes (identity)",
                    "ALTER TABLE tokens ADD COLUMN certificate TEXT"),
            List.of("""
                    CREATE TABLE generations (
                      one INTEGER PRIMARY KEY CHECK (one = 1), ceiling INTEGER NOT NULL) STRICT"""),
            List.of("""
                    CREATE TABLE admin_tokens (
                      name TEXT PRIMARY KEY, role TEXT NOT NULL, hash BLOB NOT NULL, created INTEGER NOT NULL,
                      earlier BLOB, earlier_until INTEGER) STRICT""",
                    """
                            CREATE TABLE audit (
                              seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL,
                              remote TEXT NOT NULL, request_id TEXT NOT NULL, what TEXT NOT NULL, thing TEXT NOT NULL) STRICT"""),
            // Nobody noted it before: of those that were there, most had a client.
            List.of("ALTER TABLE runtimes ADD COLUMN connected INTEGER",
                    "UPDATE runtimes SET connected = created"),
            // A row for each limit of its own: another limit needs no other table.
            List.of("""
                    CREATE TABLE runtime_limits (
                      runtime_id TEXT NOT NULL REFERENCES runtimes (id) ON DELETE CASCADE,
                      key TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (runtime_id, key)) STRICT"""),
            List.of("""
                    CREATE TABLE runtime_access (
                      runtime_id TEXT PRIMARY KEY REFERENCES runtimes (id) ON DELETE CASCADE,
                      rules TEXT NOT NULL) STRICT"""));

    private SqliteSchema() {}

    /** The newest version. */
    static int newest() {
        return VERSIONS.size();
    }

    /** Brings the database to the newest version, in the caller's transaction. */
    static void migrate(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT");
            int version = version(statement);
            if (version > VERSIONS.size()) {
                throw new SQLException("it has schema version " + version
                        + ", which a newer culvert wrote (expected: at"
                        + " most " + VERSIONS.size() + "; run that culvert, or restore a backup of before)");
            }
            for (List<String> changes : VERSIONS.subList(version, VERSIONS.size())) {
                for (String change : changes) {
                    statement.execute(change);
                }
            }
            statement.execute("DELETE FROM schema_version");
            statement.execute("INSERT INTO schema_version VALUES (" + VERSIONS.size() + ")");
        }
    }

    /** Our tables must not be mixed with those of another program. To be called before anything is written. */
    static void refuseForeign(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement
                        .executeQuery("SELECT count(*), coalesce(sum(name = 'schema_version'), 0)"
                                + " FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")) {
            if (row.next() && row.getInt(1) > 0 && row.getInt(2) == 0) {
                throw new SQLException(
                        "it holds tables of another program (expected: a database of Culvert's, or"
                                + " none: name another folder)");
            }
        }
    }

    /** Throws unless it is a database of Culvert's. */
    static void requireCulverts(Connection connection) throws SQLException {
        if (!has(connection, "schema_version") || !has(connection, "runtimes")) {
            throw new SQLException(
                    "it holds no runtimes of Culvert's (expected: a file that culvert server backup wrote)");
        }
    }

    /** Whether there is a table of that name. */
    static boolean has(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement = connection
                .prepareStatement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")) {
            statement.setString(1, table);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Throws when the file is damaged: served on, it would lose more. Reads the whole file. */
    static void check(Connection connection) throws SQLException {
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
