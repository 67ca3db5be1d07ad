package dev.culvert.platform.triggers.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of triggers. Lists are in the order of event and pipeline, which {@link #position} joins. Every
 * method runs in the caller's transaction and blocks.
 */
public final class TriggerTable {
    private static final String SELECT = "SELECT account, event, pipeline, filters FROM triggers_trigger WHERE ";
    /** Stands between event and pipeline: no event has it. */
    private static final char SEPARATOR = '\n';

    private TriggerTable() {}

    /** Where a trigger is in lists. */
    public static String position(StoredTrigger trigger) {
        return trigger.event() + SEPARATOR + trigger.pipeline();
    }

    /** All triggers of an event, in the order of pipelines. */
    public static List<StoredTrigger> of(Connection connection, String account, String event)
            throws SQLException {
        return Rows.list(connection, TriggerTable::trigger,
                SELECT + "account = ? AND event = ? ORDER BY pipeline", account, event);
    }

    /** The first triggers of an account after a position. */
    public static List<StoredTrigger> page(Connection connection, String account, String after, int limit)
            throws SQLException {
        int separator = after.indexOf(SEPARATOR);
        return Rows.list(connection, TriggerTable::trigger,
                SELECT + "account = ? AND (event, pipeline) > (?, ?) ORDER BY event, pipeline LIMIT " + limit,
                account, separator < 0 ? "" : after.substring(0, separator), after.substring(separator + 1));
    }

    /** The first triggers of a pipeline after a position. */
    public static List<StoredTrigger> ofPipeline(Connection connection, String account, String pipeline,
            String after, int limit) throws SQLException {
        int separator = after.indexOf(SEPARATOR);
        return Rows.list(connection, TriggerTable::trigger,
                SELECT + "account = ? AND pipeline = ? AND event > ? ORDER BY event LIMIT " + limit, account,
                pipeline, separator < 0 ? "" : after.substring(0, separator));
    }

    public static @Nullable StoredTrigger find(Connection connection, String account, String event,
            String pipeline) throws SQLException {
        return Rows.first(connection, TriggerTable::trigger,
                SELECT + "account = ? AND event = ? AND pipeline = ?", account, event, pipeline);
    }

    /** The number of an account's triggers. */
    public static long count(Connection connection, String account) throws SQLException {
        return Rows.count(connection, "SELECT count(*) FROM triggers_trigger WHERE account = ?", account);
    }

    /** The number of an event's triggers. */
    public static long count(Connection connection, String account, String event) throws SQLException {
        return Rows.count(connection,
                "SELECT count(*) FROM triggers_trigger WHERE account = ? AND event = ?", account, event);
    }

    /** Adds a trigger, or replaces its filters. */
    public static void put(Connection change, StoredTrigger trigger, long now) throws SQLException {
        Rows.update(change, "INSERT INTO triggers_trigger (account, event, pipeline, filters, created)"
                + " VALUES (?, ?, ?, ?, ?) ON CONFLICT (account, event, pipeline)"
                + " DO UPDATE SET filters = excluded.filters",
                trigger.account(), trigger.event(), trigger.pipeline(), trigger.filters(), now);
    }

    /** Removes a trigger. Returns whether it was there. */
    public static boolean remove(Connection change, String account, String event, String pipeline)
            throws SQLException {
        return Rows.update(change,
                "DELETE FROM triggers_trigger WHERE account = ? AND event = ? AND pipeline = ?", account,
                event, pipeline) == 1;
    }

    private static StoredTrigger trigger(ResultSet row) throws SQLException {
        return new StoredTrigger(row.getString(1), row.getString(2), row.getString(3), row.getString(4));
    }
}
