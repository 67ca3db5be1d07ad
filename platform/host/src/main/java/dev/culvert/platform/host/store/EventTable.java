package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.Event;
import dev.culvert.store.Database;
import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * The stored events. On SQLite the table itself numbers them. On a server the last number is a row, which
 * stays locked from the numbering to the end of the commit: a transaction gets its numbers only when those
 * before are committed and visible, so a reader that goes on behind the last number misses none. Every method
 * runs in the caller's transaction and blocks.
 *
 * @param page the maximum number of events that are read at once
 */
record EventTable(Database.Engine engine, int page) {
    /** The number of the last event, also when it was deleted; 0: there was none. */
    long last(Connection connection) throws SQLException {
        return Rows.count(connection, switch (engine) {
            case SQLITE ->
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'platform_events'";
            case POSTGRES -> "SELECT last FROM platform_feed";
        });
    }

    /** Stores and numbers events, and deletes those that are older than the last {@code kept}. */
    void add(Connection change, List<PlatformChange.NewEvent> events, int kept) throws SQLException {
        if (engine == Database.Engine.POSTGRES) {
            Rows.update(change, "UPDATE platform_feed SET last = last + ?", (long) events.size());
        }
        long last = engine == Database.Engine.POSTGRES ? last(change) : last(change) + events.size();
        long seq = last - events.size();
        for (PlatformChange.NewEvent event : events) {
            seq++;
            Rows.update(change,
                    "INSERT INTO platform_events (seq, account, module, kind, subject) VALUES (?, ?, ?, ?, ?)",
                    seq, event.account(), event.module(), event.kind(), event.subject());
        }
        Rows.update(change, "DELETE FROM platform_events WHERE seq <= ?", last - kept);
    }

    /** The number of the oldest event; 0: there is none. */
    long oldest(Connection connection) throws SQLException {
        return Rows.count(connection, "SELECT coalesce(min(seq), 0) FROM platform_events");
    }

    /** The events after a number, of all modules and accounts. */
    List<Event> after(Connection connection, long since) throws SQLException {
        return list(connection, "seq > ?", since);
    }

    /** As above, of one module in one account. */
    List<Event> after(Connection connection, String account, String module, long since) throws SQLException {
        return list(connection, "account = ? AND module = ? AND seq > ?", account, module, since);
    }

    private List<Event> list(Connection connection, String where, Object... values) throws SQLException {
        return Rows.list(connection,
                row -> new Event(row.getLong(1), row.getString(2), row.getString(3), row.getString(4),
                        row.getString(5)),
                "SELECT seq, account, module, kind, subject FROM platform_events WHERE " + where
                        + " ORDER BY seq LIMIT " + page,
                values);
    }
}
