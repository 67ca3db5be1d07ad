package dev.culvert.platform.host.store;

import dev.culvert.store.Rows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The requests that changed something and may be sent again: for a day, and the last 1,000 of an account.
 * Every method runs in the transaction of the change and blocks.
 */
final class RequestTable {
    private static final long KEPT_MILLIS = Duration.ofDays(1).toMillis();
    private static final int KEPT_PER_ACCOUNT = 1_000;

    private RequestTable() {}

    /** What is stored of a request. */
    private record Stored(String digest, @Nullable String body) {}

    /** Throws {@link RepeatableRequest.Repeated} if its change was made. */
    static void requireNew(Connection change, RepeatableRequest request, long now) throws SQLException {
        Stored stored = Rows.first(change, row -> new Stored(row.getString(1), row.getString(2)),
                "SELECT digest, body FROM platform_requests WHERE account = ? AND caller = ? AND request = ?"
                        + " AND created > ?",
                request.account(), request.caller(), request.key(), now - KEPT_MILLIS);
        if (stored != null) {
            throw new RepeatableRequest.Repeated(stored.digest().equals(request.digest()), stored.body());
        }
    }

    static void add(Connection change, RepeatableRequest request, Object result, long now)
            throws SQLException {
        // Of this account alone: two changes of two accounts must not wait for each other here.
        Rows.update(change, "DELETE FROM platform_requests WHERE account = ? AND created <= ?",
                request.account(), now - KEPT_MILLIS);
        Rows.update(change,
                "INSERT INTO platform_requests (account, caller, request, digest, body, created)"
                        + " VALUES (?, ?, ?, ?, ?, ?)",
                request.account(), request.caller(), request.key(), request.digest(), request.body(result),
                now);
        Rows.update(change,
                "DELETE FROM platform_requests WHERE account = ? AND created <= (SELECT created FROM"
                        + " platform_requests WHERE account = ? ORDER BY created DESC LIMIT 1 OFFSET "
                        + KEPT_PER_ACCOUNT + ")",
                request.account(), request.account());
    }
}
