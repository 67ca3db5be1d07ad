package dev.culvert.platform.host.store;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a table holds, whatever the order of its rows: two tables with the same content are equal. Every
 * method blocks.
 *
 * @param rows their number
 * @param digests the sum of the SHA-256 of each row
 */
record TableContent(long rows, BigInteger digests) {
    private static final int BATCH = 500;
    private static final int FETCH = 1_000;

    /** The content of these columns. */
    static TableContent of(Connection connection, String table, List<String> columns) throws SQLException {
        long rows = 0;
        BigInteger digests = BigInteger.ZERO;
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(FETCH);
            try (ResultSet row = statement.executeQuery(select(table, columns))) {
                while (row.next()) {
                    MessageDigest digest = sha256();
                    for (int i = 1; i <= columns.size(); i++) {
                        byte[] text = text(row.getObject(i)).getBytes(StandardCharsets.UTF_8);
                        digest.update((text.length + ":").getBytes(StandardCharsets.US_ASCII));
                        digest.update(text);
                    }
                    digests = digests.add(new BigInteger(1, digest.digest()));
                    rows++;
                }
            }
        }
        return new TableContent(rows, digests);
    }

    /** Adds all rows of a table to the table of the same name. */
    static void copy(Connection source, Connection target, String table, List<String> columns)
            throws SQLException {
        String insert = "INSERT INTO " + quoted(table) + " (" + names(columns) + ") VALUES ("
                + String.join(", ", Collections.nCopies(columns.size(), "?")) + ")";
        try (Statement read = source.createStatement();
                ResultSet row = read.executeQuery(select(table, columns));
                PreparedStatement write = target.prepareStatement(insert)) {
            int waiting = 0;
            while (row.next()) {
                for (int i = 1; i <= columns.size(); i++) {
                    write.setObject(i, row.getObject(i));
                }
                write.addBatch();
                waiting++;
                if (waiting == BATCH) {
                    write.executeBatch();
                    waiting = 0;
                }
            }
            write.executeBatch();
        }
    }

    static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    private static String select(String table, List<String> columns) {
        return "SELECT " + names(columns) + " FROM " + quoted(table);
    }

    private static String names(List<String> columns) {
        return columns.stream().map(TableContent::quoted).collect(Collectors.joining(", "));
    }

    /** The same for both drivers: numbers have different classes. */
    private static String text(@Nullable Object value) throws SQLException {
        return switch (value) {
            case null -> "null";
            case Number number -> "n" + number.longValue();
            case byte[] bytes -> "b" + HexFormat.of().formatHex(bytes);
            case String text -> "t" + text;
            default -> throw new SQLException("a column of type " + value.getClass().getName()
                    + " can't be compared (expected: numbers, texts and bytes)");
        };
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
