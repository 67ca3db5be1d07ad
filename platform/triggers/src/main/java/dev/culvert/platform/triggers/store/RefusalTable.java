package dev.culvert.platform.triggers.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * The rows of what started nothing: the newest 1,000 of an account. Every method runs in the caller's
 * transaction and blocks.
 */
public final class RefusalTable {
    /** The number of an account's rows. */
    public static final int KEPT = 1_000;
    private static final int MAX_CHARS = 4_096;
    private static final String TABLE = "triggers_refusal";
    private static final String COLUMNS = "account, id, event, delivery, why, created";

    private RefusalTable() {}

    public static void add(Connection change, String account, String event, String delivery, String why,
            long now) throws SQLException {
        long place = Places.next(change, TABLE, account);
        Rows.update(change, "INSERT INTO " + TABLE + " (" + COLUMNS + ", place) VALUES (?, ?, ?, ?, ?, ?, ?)",
                account, Ids.at(now), event, delivery, why.substring(0, Math.min(MAX_CHARS, why.length())),
                now, place);
        Places.keep(change, TABLE, account, place - KEPT, "1 = 1");
    }

    /** The newest before an id. */
    public static List<StoredRefusal> page(Connection connection, String account, String before, int limit)
            throws SQLException {
        String end = " ORDER BY id DESC LIMIT " + limit;
        String select = "SELECT " + COLUMNS + " FROM " + TABLE + " WHERE account = ?";
        return before.isEmpty()
                ? Rows.list(connection, RefusalTable::refusal, select + end, account)
                : Rows.list(connection, RefusalTable::refusal, select + " AND id < ?" + end, account, before);
    }

    private static StoredRefusal refusal(ResultSet row) throws SQLException {
        return new StoredRefusal(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getString(5), row.getLong(6));
    }
}
