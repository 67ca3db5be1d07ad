package dev.culvert.store.postgres;

import dev.culvert.store.DatabaseServer;
import dev.culvert.store.SchemaParts;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.api.migration.Context;
import org.flywaydb.core.api.migration.JavaMigration;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Migrates the parts of a schema by Flyway, each with a history table of its own, {@code <part>_versions}.
 * One process at a time; others wait. All methods block.
 */
record PostgresSchema(DatabaseServer server, SchemaParts schema) {
    /** The end of the names of Flyway's tables. */
    private static final String HISTORY = "_versions";
    private static final long MIGRATION_LOCK = 0x63756c7665727431L;
    private static final List<String> RIGHTS = List.of("SELECT", "INSERT", "UPDATE", "DELETE");

    /** Migrates to the newest versions. Throws SQLException with a message for operators. */
    void migrate() throws SQLException {
        Properties properties = PostgresPool.properties(server);
        // A migration may take long, and the process that waits for it, too.
        properties.remove("options");
        properties.remove("socketTimeout");
        properties.setProperty("user", server.user());
        String password = PostgresPool.password(server.passwordFile());
        if (password != null) {
            properties.setProperty("password", password);
        }
        try (Connection held = source(properties).getConnection()) {
            lock(held);
            requireSchema(held);
            refuseForeign(held);
            for (Map.Entry<String, List<List<String>>> part : schema.parts().entrySet()) {
                refuseNewer(held, part.getKey(), part.getValue().size());
                migrate(properties, part.getKey(), part.getValue());
            }
            requireRights(held);
        }
    }

    /** Until the connection is closed. Flyway locks each history table, which would not order the parts. */
    private static void lock(Connection held) throws SQLException {
        try (Statement statement = held.createStatement()) {
            statement.execute("SELECT pg_advisory_lock(" + MIGRATION_LOCK + ")");
        }
    }

    private void migrate(Properties properties, String part, List<List<String>> versions)
            throws SQLException {
        List<JavaMigration> migrations = new ArrayList<>();
        for (int i = 0; i < versions.size(); i++) {
            migrations.add(new Statements(part, i + 1, versions.get(i)));
        }
        try {
            Flyway.configure(PostgresSchema.class.getClassLoader())
                    .dataSource(source(properties))
                    .table(part + HISTORY)
                    .locations(new String[0])
                    .javaMigrations(migrations.toArray(JavaMigration[]::new))
                    .baselineOnMigrate(true)
                    .baselineVersion("0")
                    .group(true)
                    .failOnMissingLocations(false)
                    .load()
                    .migrate();
        } catch (FlywayException failed) {
            throw told(part, failed);
        }
    }

    private PGSimpleDataSource source(Properties properties) throws SQLException {
        var source = new PGSimpleDataSource();
        source.setURL(PostgresPool.url(server));
        for (String name : properties.stringPropertyNames()) {
            source.setProperty(name, properties.getProperty(name));
        }
        return source;
    }

    private static SQLException told(String part, FlywayException failed) {
        for (Throwable cause = failed.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException own) {
                return own;
            }
        }
        String text = failed.getMessage() == null ? "" : failed.getMessage();
        return new SQLException("the tables of " + part + " can't be migrated: "
                + text.lines()
                        .filter(line -> !line.isBlank())
                        .reduce((a, b) -> a + " " + b.strip())
                        .orElse(""),
                failed);
    }

    private void requireSchema(Connection held) throws SQLException {
        List<String> missing = texts(held, "SELECT coalesce(current_schema(), '')");
        if (missing.getFirst().isEmpty()) {
            throw new SQLException("the role " + server.user() + " may use no schema of its search_path"
                    + " (expected: GRANT USAGE, CREATE ON SCHEMA public TO " + server.user() + ")");
        }
    }

    /** The tables of another program stay as they are. */
    private void refuseForeign(Connection held) throws SQLException {
        List<String> tables = texts(held,
                "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename");
        String own = schema.parts().firstEntry().getKey() + HISTORY;
        if (!tables.isEmpty() && !tables.contains(own)) {
            throw new SQLException("it holds tables of another program, as " + tables.getFirst()
                    + " (expected: a database of Culvert's, or an empty one)");
        }
    }

    private static void refuseNewer(Connection held, String part, int most) throws SQLException {
        if (texts(held, "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?",
                part + HISTORY).isEmpty()) {
            return;
        }
        List<String> newest = texts(held,
                "SELECT coalesce(max(version::integer), 0) FROM " + quoted(part + HISTORY)
                        + " WHERE success AND version IS NOT NULL");
        int present = Integer.parseInt(newest.getFirst());
        if (present > most) {
            throw new SQLException("it has version " + present + " of the tables of " + part
                    + ", which a newer culvert wrote (expected: at most " + most
                    + "; run that culvert, or restore a backup of before)");
        }
    }

    /** Names the right and the table, before the first change fails for it. */
    private void requireRights(Connection held) throws SQLException {
        for (String right : RIGHTS) {
            List<String> without = texts(held, "SELECT tablename FROM pg_tables WHERE schemaname ="
                    + " current_schema() AND NOT has_table_privilege(quote_ident(schemaname) || '.' ||"
                    + " quote_ident(tablename), ?) ORDER BY tablename", right);
            if (!without.isEmpty()) {
                throw new SQLException("the role " + server.user() + " lacks the right " + right
                        + " on the table " + without.getFirst() + " (expected: GRANT SELECT, INSERT, UPDATE,"
                        + " DELETE ON ALL TABLES IN SCHEMA public TO " + server.user()
                        + ", or the role that made the tables)");
            }
        }
    }

    private static List<String> texts(Connection held, String sql, String... values) throws SQLException {
        try (PreparedStatement statement = held.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                List<String> texts = new ArrayList<>();
                while (row.next()) {
                    texts.add(String.valueOf(row.getString(1)));
                }
                return texts;
            }
        }
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    /** One version of a part. */
    private record Statements(String part, int version, List<String> statements) implements JavaMigration {
        @Override
        public MigrationVersion getVersion() {
            return MigrationVersion.fromVersion(String.valueOf(version));
        }

        @Override
        public String getDescription() {
            return part + " " + version;
        }

        /** An edited version is refused. */
        @Override
        public Integer getChecksum() {
            return statements.hashCode();
        }

        @Override
        public boolean canExecuteInTransaction() {
            return true;
        }

        @Override
        public void migrate(Context context) throws SQLException {
            try (Statement statement = context.getConnection().createStatement()) {
                for (String sql : statements) {
                    statement.execute(sql);
                }
            }
        }
    }
}
