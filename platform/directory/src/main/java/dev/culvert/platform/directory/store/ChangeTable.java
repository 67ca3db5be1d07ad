package dev.culvert.platform.directory.store;

import dev.culvert.store.SqliteDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The last changes, oldest first. Every method runs in the caller's transaction and blocks. */
final class ChangeTable {
    /** The maximum number of changes in one answer. A client with more to read asks again at once. */
    static final int PAGE = 1_000;

    private final DirectoryLimits limits;

    ChangeTable(DirectoryLimits limits) {
        this.limits = limits;
    }

    /** Stores a change, and deletes the oldest ones. */
    void add(Connection connection, String account, String what, @Nullable String user) throws SQLException {
        SqliteDatabase.update(connection, "INSERT INTO changes (account, what, user) VALUES (?, ?, ?)",
                account, what,
                user);
        SqliteDatabase.update(connection, "DELETE FROM changes WHERE seq <= ?",
                last(connection) - limits.maxChanges());
    }

    /** The changes after {@code since}; if negative, only the present position. */
    static Changes since(Connection connection, String account, long since) throws SQLException {
        long last = last(connection);
        if (since < 0) {
            return new Changes(last, false, false, List.of());
        }
        long oldest = Rows.count(connection, "SELECT coalesce(min(seq), 0) FROM changes");
        if (since > last || since + 1 < oldest) {
            return new Changes(last, true, false, List.of());
        }
        List<Change> read = Rows.list(connection,
                row -> new Change(row.getLong(1), row.getString(2), row.getString(3)),
                "SELECT seq, what, user FROM changes WHERE account = ? AND seq > ? ORDER BY seq LIMIT "
                        + PAGE,
                account, since);
        boolean more = read.size() == PAGE;
        return new Changes(more ? read.getLast().seq() : last, false, more, read);
    }

    private static long last(Connection connection) throws SQLException {
        return Rows.count(connection, "SELECT coalesce(max(seq), 0) FROM changes");
    }
}
