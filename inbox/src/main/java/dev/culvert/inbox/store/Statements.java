package dev.culvert.inbox.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prepared statements of a connection, each prepared once. Belongs to the connection's thread. All SQL
 * texts are constants.
 */
public final class Statements implements AutoCloseable {
    private final Connection connection;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    public Statements(Connection connection) {
        this.connection = connection;
    }

    /** Reads one row. */
    @FunctionalInterface
    public interface Row<T extends @Nullable Object> {
        T read(ResultSet row) throws SQLException;
    }

    Connection connection() {
        return connection;
    }

    int update(String sql, @Nullable Object... values) throws SQLException {
        return prepare(sql, values).executeUpdate();
    }

    public <T> List<T> list(String sql, Row<T> reader, @Nullable Object... values) throws SQLException {
        List<T> rows = new ArrayList<>();
        try (ResultSet row = prepare(sql, values).executeQuery()) {
            while (row.next()) {
                rows.add(reader.read(row));
            }
        }
        return rows;
    }

    <T> @Nullable T first(String sql, Row<T> reader, @Nullable Object... values) throws SQLException {
        try (ResultSet row = prepare(sql, values).executeQuery()) {
            return row.next() ? reader.read(row) : null;
        }
    }

    public long number(String sql, @Nullable Object... values) throws SQLException {
        try (ResultSet row = prepare(sql, values).executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    private PreparedStatement prepare(String sql, @Nullable Object... values) throws SQLException {
        PreparedStatement statement = prepared.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            prepared.put(sql, statement);
        }
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    /** Closes all statements: one that failed, as on a full disk, cannot be used again. */
    void forget() {
        for (PreparedStatement statement : prepared.values()) {
            try {
                statement.close();
            } catch (SQLException failedBefore) {
                // Its failure was reported before; the connection works without it.
            }
        }
        prepared.clear();
    }

    @Override
    public void close() {
        forget();
    }
}
