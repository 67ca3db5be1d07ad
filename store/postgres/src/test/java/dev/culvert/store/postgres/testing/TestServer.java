package dev.culvert.store.postgres.testing;

import dev.culvert.store.DatabaseServer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A PostgreSQL server of this JVM, started by the first test that needs it. */
public final class TestServer {
    private static final AtomicInteger DATABASES = new AtomicInteger();

    private TestServer() {}

    /** Started once. Ends with the JVM. */
    private static final class Started {
        static final EmbeddedPostgres SERVER = start();

        private static EmbeddedPostgres start() {
            try {
                return EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "off")
                        .setServerConfig("synchronous_commit", "on")
                        .setServerConfig("max_connections", "200")
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A new, empty database. */
    public static DatabaseServer database() {
        String name = "test" + DATABASES.incrementAndGet();
        execute("postgres", "CREATE DATABASE " + name);
        return at(name, "postgres");
    }

    /** A database that exists, for another role. */
    public static DatabaseServer at(String database, String role) {
        return new DatabaseServer("127.0.0.1:" + Started.SERVER.getPort(), database, role, null, true, null,
                8,
                1_000, Duration.ofSeconds(2), Duration.ofSeconds(20), Duration.ofSeconds(10),
                Duration.ofSeconds(5));
    }

    /** A connection beside those of the program. The caller closes it. */
    public static Connection connect(String database) throws SQLException {
        return Started.SERVER.getDatabase("postgres", database).getConnection();
    }

    /** Runs a statement in a database, as its superuser. */
    public static void execute(String database, String sql) {
        try (Connection connection = connect(database); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
