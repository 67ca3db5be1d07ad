package dev.culvert.platform.triggers.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** When the clock's events are due next. Every method runs in the caller's transaction and blocks. */
public final class ClockTable {
    private ClockTable() {}

    /**
     * A tick.
     *
     * @param event the URI of the event
     * @param due in milliseconds since 1970
     */
    public record Tick(String event, String account, long due) {}

    public static void add(Connection change, Tick tick) throws SQLException {
        Rows.update(change, "INSERT INTO triggers_clock (event, account, due) VALUES (?, ?, ?)", tick.event(),
                tick.account(), tick.due());
    }

    public static void remove(Connection change, String event) throws SQLException {
        Rows.update(change, "DELETE FROM triggers_clock WHERE event = ?", event);
    }

    /** The ticks that are due, the oldest first. */
    public static List<Tick> due(Connection connection, long now, int limit) throws SQLException {
        return Rows.list(connection, row -> new Tick(row.getString(1), row.getString(2), row.getLong(3)),
                "SELECT event, account, due FROM triggers_clock WHERE due <= ? ORDER BY due LIMIT "
                        + limit,
                now);
    }

    /** Sets the next time. Returns false if the tick was taken before. */
    public static boolean move(Connection change, Tick taken, long next) throws SQLException {
        return Rows.update(change, "UPDATE triggers_clock SET due = ? WHERE event = ? AND due = ?", next,
                taken.event(), taken.due()) == 1;
    }
}
