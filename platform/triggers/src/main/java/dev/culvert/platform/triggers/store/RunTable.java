package dev.culvert.platform.triggers.store;

import dev.culvert.platform.triggers.store.StoredRun.State;
import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of runs. Of an account the newest are kept; those that wait are never deleted. Every method runs
 * in the caller's transaction and blocks.
 */
public final class RunTable {
    /** The number of an account's runs that are kept. */
    public static final int KEPT = 10_000;
    private static final String COLUMNS = "account, id, event, delivery, pipeline, variables, state, build, why,"
            + " created";
    private static final String SELECT = "SELECT " + COLUMNS + " FROM triggers_run WHERE ";
    /** Without the variables, which may be large. */
    private static final String LISTED = SELECT.replace(" variables,", " '',");

    private RunTable() {}

    /** What a list of runs may be limited to. */
    public record Which(@Nullable String event, @Nullable String pipeline) {}

    /** Adds a run. Returns its id. */
    public static String add(Connection change, StoredRun run) throws SQLException {
        String id = Ids.at(run.created());
        long place = Places.next(change, "triggers_run", run.account());
        Rows.update(change, "INSERT INTO triggers_run (" + COLUMNS + ", place)"
                + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                run.account(), id, run.event(), run.delivery(), run.pipeline(), run.variables(),
                run.state().name(), run.build(), run.why(), run.created(), place);
        Places.keep(change, "triggers_run", run.account(), place - KEPT, "state <> 'WAITING'");
        return id;
    }

    public static @Nullable StoredRun find(Connection connection, String account, String id)
            throws SQLException {
        return Rows.first(connection, RunTable::run, SELECT + "account = ? AND id = ?", account, id);
    }

    /** The runs that one delivery started, in the order of pipelines. */
    public static List<StoredRun> of(Connection connection, String account, String event, String delivery)
            throws SQLException {
        return Rows.list(connection, RunTable::run,
                SELECT + "account = ? AND event = ? AND delivery = ? ORDER BY pipeline", account, event,
                delivery);
    }

    /** The newest runs before an id, without their variables. */
    public static List<StoredRun> page(Connection connection, String account, Which which, String before,
            int limit) throws SQLException {
        List<Object> values = new ArrayList<>(List.of(account));
        String sql = LISTED + "account = ?";
        if (which.event != null) {
            sql += " AND event = ?";
            values.add(which.event);
        }
        if (which.pipeline != null) {
            sql += " AND pipeline = ?";
            values.add(which.pipeline);
        }
        if (!before.isEmpty()) {
            sql += " AND id < ?";
            values.add(before);
        }
        return Rows.list(connection, RunTable::run, sql + " ORDER BY id DESC LIMIT " + limit,
                values.toArray());
    }

    /** Notes what became of a run that waits. */
    public static void ended(Connection change, String account, String id, State state,
            @Nullable String build, @Nullable String why) throws SQLException {
        Rows.update(change, "UPDATE triggers_run SET state = ?, build = ?, why = ?"
                + " WHERE account = ? AND id = ? AND state = 'WAITING'", state.name(), build, why, account,
                id);
    }

    private static StoredRun run(ResultSet row) throws SQLException {
        return new StoredRun(row.getString(1), row.getString(2), row.getString(3), row.getString(4),
                row.getString(5), row.getString(6), State.valueOf(row.getString(7)), row.getString(8),
                row.getString(9), row.getLong(10));
    }
}
