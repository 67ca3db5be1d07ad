package dev.culvert.platform.triggers.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rows of events. Every method runs in the caller's transaction and blocks. */
public final class EventTable {
    private static final String COLUMNS = "uri, account, type, kind, details, secret, created";
    private static final String SELECT = "SELECT " + COLUMNS + " FROM triggers_event WHERE ";

    private EventTable() {}

    /** An event, or null. */
    public static @Nullable StoredEvent find(Connection connection, String uri) throws SQLException {
        return Rows.first(connection, EventTable::event, SELECT + "uri = ?", uri);
    }

    /** An event of an account, or null. */
    public static @Nullable StoredEvent find(Connection connection, String account, String uri)
            throws SQLException {
        StoredEvent found = find(connection, uri);
        return found == null || !found.account().equals(account) ? null : found;
    }

    /** The first events of an account after a URI. */
    public static List<StoredEvent> page(Connection connection, String account, String after, int limit)
            throws SQLException {
        return Rows.list(connection, EventTable::event,
                SELECT + "account = ? AND uri > ? ORDER BY uri LIMIT " + limit, account, after);
    }

    /** The number of an account's events. */
    public static long count(Connection connection, String account) throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM triggers_event WHERE account = ?", account);
    }

    public static void add(Connection change, StoredEvent event) throws SQLException {
        Rows.update(change, "INSERT INTO triggers_event (" + COLUMNS + ") VALUES (?, ?, ?, ?, ?, ?, ?)",
                event.uri(), event.account(), event.type(), event.kind(), event.details(), event.secret(),
                event.created());
    }

    public static void remove(Connection change, String uri) throws SQLException {
        Rows.update(change, "DELETE FROM triggers_event WHERE uri = ?", uri);
    }

    /** The first events after a URI whose secret another key wraps than that of a prefix. */
    public static List<StoredEvent> wrappedByOthers(Connection connection, String after, String prefix,
            int limit) throws SQLException {
        return Rows.list(connection, EventTable::event, SELECT
                + "uri > ? AND secret <> '' AND secret NOT LIKE ? ORDER BY uri LIMIT " + limit, after,
                prefix + "%");
    }

    /** Replaces a secret, unless it has changed. */
    public static void rewrap(Connection change, String uri, String before, String secret)
            throws SQLException {
        Rows.update(change, "UPDATE triggers_event SET secret = ? WHERE uri = ? AND secret = ?", secret, uri,
                before);
    }

    private static StoredEvent event(ResultSet row) throws SQLException {
        return new StoredEvent(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getString(5), row.getString(6), row.getLong(7));
    }
}
