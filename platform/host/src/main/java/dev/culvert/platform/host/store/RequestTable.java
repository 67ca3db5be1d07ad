package dev.culvert.platform.host.store;

import dev.culvert.store.Database;
import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The requests that changed something and may be sent again. Each is kept for at least 15 minutes, and for a
 * day while it is one of the last of its account; where an account has too many younger ones, more are
 * refused. A change deletes old rows of its own account only, a few at once, so that it waits for no other
 * one. Times are the database's. Every method runs in the transaction of the change, which excludes other
 * changes of the account, and blocks.
 *
 * @param kept the number of rows of an account that are kept for a day
 * @param most the number of rows of an account at which new ones are refused
 */
record RequestTable(Database.Engine engine, int kept, int most) {
    private static final int KEPT = 1_000;
    private static final int MAX = 50_000;
    private static final long KEPT_MILLIS = Duration.ofDays(1).toMillis();
    private static final long SURELY_KEPT_MILLIS = Duration.ofMinutes(15).toMillis();
    /** The maximum number of rows that one statement deletes. */
    private static final int DELETED_AT_ONCE = 100;

    RequestTable(Database.Engine engine) {
        this(engine, KEPT, MAX);
    }

    /** What is stored of a request. */
    private record Stored(String digest, @Nullable String body) {}

    /** The database's time, in milliseconds since 1970. A file has one process, whose time is its own. */
    long now(Connection connection) throws SQLException {
        return switch (engine) {
            case SQLITE -> System.currentTimeMillis();
            case POSTGRES ->
                Rows.count(connection, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
        };
    }

    /** Throws {@link RepeatableRequest.Repeated} if its change was made. */
    void requireNew(Connection change, RepeatableRequest request, long now) throws SQLException {
        Stored stored = Rows.first(change, row -> new Stored(row.getString(1), row.getString(2)),
                "SELECT digest, body FROM platform_requests WHERE account = ? AND caller = ? AND request = ?"
                        + " AND created > ?",
                request.account(), request.caller(), request.key(), now - KEPT_MILLIS);
        if (stored != null) {
            throw new RepeatableRequest.Repeated(stored.digest().equals(request.digest()), stored.body());
        }
    }

    /** Stores a request whose change is made. Throws {@link RepeatableRequest.TooMany}. */
    void add(Connection change, RepeatableRequest request, Object result, long now) throws SQLException {
        // One that is over has the same key.
        Rows.update(change, "DELETE FROM platform_requests WHERE account = ? AND caller = ? AND request = ?",
                request.account(), request.caller(), request.key());
        long last = edge(change, "max", request.account());
        delete(change, request.account(), "created <= ?", now - KEPT_MILLIS);
        delete(change, request.account(), "created <= ? AND place <= " + (last - kept + 1),
                now - SURELY_KEPT_MILLIS);
        if (last - edge(change, "min", request.account()) + 1 >= most) {
            throw new RepeatableRequest.TooMany(most);
        }
        Rows.update(change,
                "INSERT INTO platform_requests (account, caller, request, digest, body, created, place)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?)",
                request.account(), request.caller(), request.key(), request.digest(), request.body(result),
                now, last + 1);
    }

    /** The place of the first or last row of an account: their difference is the number of rows. */
    private static long edge(Connection change, String function, String account) throws SQLException {
        return Rows.count(change,
                "SELECT coalesce(" + function + "(place), 0) FROM platform_requests WHERE account = ?",
                account);
    }

    private static void delete(Connection change, String account, String which, long before)
            throws SQLException {
        Rows.update(change,
                "DELETE FROM platform_requests WHERE account = ? AND (caller, request) IN (SELECT caller,"
                        + " request FROM platform_requests WHERE account = ? AND " + which
                        + " ORDER BY place LIMIT "
                        + DELETED_AT_ONCE + ")",
                account, account, before);
    }
}
