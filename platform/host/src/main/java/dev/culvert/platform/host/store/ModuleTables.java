package dev.culvert.platform.host.store;

import dev.culvert.store.DatabaseSchema;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.SequencedMap;

/**
 * The tables of the host and of all modules, each with a version of its own. Tables of a module that is not
 * served stay as they are.
 *
 * @param modules the statements of each version, by module, as {@code PlatformModule.tables} gives them
 */
public record ModuleTables(SequencedMap<String, List<List<String>>> modules) implements DatabaseSchema {
    /** The name under which the host's own tables have their version. No module may have it. */
    public static final String HOST = "platform";

    /** The module whose file this was before there were modules. Its versions 1 and 2 were the file's. */
    private static final String FIRST = "directory";
    /** The version of the file as such: earlier programs refuse it. */
    private static final int FILE_VERSION = 3;

    private static final List<List<String>> HOST_TABLES = List.of(List.of("""
            CREATE TABLE platform_events (
              seq INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, module TEXT NOT NULL,
              kind TEXT NOT NULL, subject TEXT) STRICT""",
            "CREATE INDEX platform_events_of_account ON platform_events (account, module, seq)", """
                    CREATE TABLE platform_outbox (
                      id INTEGER PRIMARY KEY AUTOINCREMENT, module TEXT NOT NULL, account TEXT NOT NULL,
                      target TEXT NOT NULL, body TEXT NOT NULL, created INTEGER NOT NULL,
                      attempts INTEGER NOT NULL, next_at INTEGER NOT NULL, last_error TEXT) STRICT""",
            "CREATE INDEX platform_outbox_of_account ON platform_outbox (account, module, target, id)",
            "CREATE INDEX platform_outbox_due ON platform_outbox (next_at)"));

    @Override
    public void migrate(Connection connection) throws SQLException {
        int file = fileVersion(connection);
        if (file > FILE_VERSION) {
            throw newer("schema version " + file, FILE_VERSION);
        }
        boolean isFirst = !SqliteSchema.has(connection, "platform_versions");
        if (isFirst) {
            execute(connection,
                    "CREATE TABLE platform_versions (module TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT");
        }
        migrate(connection, HOST, HOST_TABLES);
        if (isFirst && file > 0) {
            adopt(connection, file);
        }
        for (var module : modules.entrySet()) {
            migrate(connection, module.getKey(), module.getValue());
        }
        SqliteDatabase.update(connection, "DELETE FROM schema_version");
        SqliteDatabase.update(connection, "INSERT INTO schema_version VALUES (?)", FILE_VERSION);
    }

    /** Takes over a file of the time before modules, with its changes as events of the same numbers. */
    private static void adopt(Connection connection, int version) throws SQLException {
        SqliteDatabase.update(connection, "INSERT INTO platform_versions VALUES (?, ?)", FIRST, version);
        SqliteDatabase.update(connection,
                "INSERT INTO platform_events SELECT seq, account, ?, what, user FROM changes ORDER BY seq",
                FIRST);
    }

    private static void migrate(Connection connection, String module, List<List<String>> versions)
            throws SQLException {
        int present = version(connection, module);
        if (present > versions.size()) {
            throw newer("version " + present + " of the tables of module " + module, versions.size());
        }
        for (List<String> changes : versions.subList(present, versions.size())) {
            for (String change : changes) {
                try {
                    execute(connection, change);
                } catch (SQLException failed) {
                    throw new SQLException("the tables of module " + module + " can't be made: "
                            + failed.getMessage(), failed);
                }
            }
        }
        SqliteDatabase.update(connection, "INSERT OR REPLACE INTO platform_versions VALUES (?, ?)", module,
                versions.size());
    }

    private static SQLException newer(String what, int most) {
        return new SQLException("it has " + what + ", which a newer culvert wrote (expected: at most " + most
                + "; run that culvert, or restore a backup of before)");
    }

    private static int fileVersion(Connection connection) throws SQLException {
        execute(connection, "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT");
        return number(connection, "SELECT max(version) FROM schema_version");
    }

    private static int version(Connection connection, String module) throws SQLException {
        return number(connection, "SELECT version FROM platform_versions WHERE module = ?", module);
    }

    private static int number(Connection connection, String sql, String... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? row.getInt(1) : 0;
            }
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
