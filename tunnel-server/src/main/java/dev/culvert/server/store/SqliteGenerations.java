package dev.culvert.server.store;

import dev.culvert.server.runtime.GenerationStore;
import dev.culvert.store.SqliteDatabase;
import dev.culvert.store.SqliteSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import reactor.core.publisher.Mono;

/** Stores the generation mark in the server's database. */
final class SqliteGenerations implements GenerationStore {
    private final SqliteDatabase database;

    SqliteGenerations(SqliteDatabase database) {
        this.database = database;
    }

    @Override
    public Mono<Long> raise(long ceiling) {
        return database.transact(connection -> {
            long before = ceiling(connection);
            raise(connection, ceiling);
            return before;
        }, before -> before);
    }

    /** The mark; 0 when there is none, as in a database of an older version. */
    static long ceiling(Connection connection) throws SQLException {
        if (!SqliteSchema.has(connection, "generations")) {
            return 0;
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT ceiling FROM generations")) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    /** Raises the mark in the caller's transaction; never lowers it. */
    static void raise(Connection connection, long ceiling) throws SQLException {
        SqliteDatabase.update(connection, "INSERT INTO generations VALUES (1, ?)"
                + " ON CONFLICT DO UPDATE SET ceiling = max(ceiling, excluded.ceiling)", ceiling);
    }
}
