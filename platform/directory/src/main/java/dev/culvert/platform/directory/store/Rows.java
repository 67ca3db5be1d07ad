package dev.culvert.platform.directory.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads rows, within the caller's transaction. */
final class Rows {
    private Rows() {}

    /** Makes a value from the cursor's present row. */
    @FunctionalInterface
    interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    static <T> List<T> list(Connection connection, Reader<T> reader, String sql, Object... values)
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

    static <T> @Nullable T first(Connection connection, Reader<T> reader, String sql, Object... values)
            throws SQLException {
        List<T> read = list(connection, reader, sql, values);
        return read.isEmpty() ? null : read.getFirst();
    }

    static long count(Connection connection, String sql, Object... values) throws SQLException {
        return list(connection, row -> row.getLong(1), sql, values).getFirst();
    }
}
