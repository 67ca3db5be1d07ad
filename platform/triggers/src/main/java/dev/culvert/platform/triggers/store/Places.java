package dev.culvert.platform.triggers.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The rows of an account are numbered, so that the oldest are found and counted without reading all. Every
 * method runs in a change of the account and blocks.
 */
final class Places {
    /** A change deletes a few old rows at once, so that it waits for no other one. */
    private static final int AT_ONCE = 100;

    private Places() {}

    /** The number of the next row. */
    static long next(Connection change, String table, String account) throws SQLException {
        return edge(change, "max", table, account) + 1;
    }

    /** The number of the first row. */
    static long first(Connection change, String table, String account) throws SQLException {
        return edge(change, "min", table, account);
    }

    private static long edge(Connection change, String function, String table, String account)
            throws SQLException {
        return Rows.count(change,
                "SELECT coalesce(" + function + "(place), 0) FROM " + table + " WHERE account = ?", account);
    }

    /**
     * Deletes the oldest rows up to a number that fulfil a condition.
     *
     * @param condition in SQL, of the names of columns and of numbers
     */
    static void keep(Connection change, String table, String account, long upTo, String condition)
            throws SQLException {
        if (upTo <= 0) {
            return;
        }
        Rows.update(change, "DELETE FROM " + table + " WHERE account = ? AND place IN (SELECT place FROM"
                + " (SELECT * FROM " + table + " WHERE account = ? AND place <= ? ORDER BY place LIMIT "
                + AT_ONCE
                + ") oldest WHERE " + condition + ")", account, account, upTo);
    }
}
