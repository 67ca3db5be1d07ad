package dev.culvert.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads and changes rows, within the caller's transaction. All methods block. */
public final class Rows {
    private Rows() {}

    /** Makes a value from the cursor's present row. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** All rows of a query with these values. */
    public static <T> List<T> list(Connection connection, Reader<T> reader, String sql, Object... values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                List<T> read = new ArrayList<>();
                while (row.next()) {
                    read.add(reader.read(row));
                }
                return read;
            }
        }
    }

    /** The first row; null without one. */
    public static <T> @Nullable T first(Connection connection, Reader<T> reader, String sql, Object... values)
            throws SQLException {
        List<T> read = list(connection, reader, sql, values);
        return read.isEmpty() ? null : read.getFirst();
    }

    /** Binds the values of a statement and executes it. Returns the number of rows that it changed. */
    public static int update(Connection connection, String sql, @Nullable Object... values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    /** The number in the one row of a query. */
    public static long count(Connection connection, String sql, Object... values) throws SQLException {
        return list(connection, row -> row.getLong(1), sql, values).getFirst();
    }
}
