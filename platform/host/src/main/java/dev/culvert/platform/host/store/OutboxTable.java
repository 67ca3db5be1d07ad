package dev.culvert.platform.host.store;

import dev.culvert.platform.host.spi.OutboxEntry;
import dev.culvert.store.Database;
import dev.culvert.store.Rows;
import dev.culvert.store.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The stored messages. Times are milliseconds since 1970. Every method runs in a transaction and blocks. */
final class OutboxTable {
    /** Milliseconds since 1970 by PostgreSQL's clock. */
    private static final String SERVER_CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    private OutboxTable() {}

    /**
     * A message and the module that sends it.
     *
     * @param created when it was stored
     * @param claim the number of the claim, on a server
     */
    record Stored(String module, OutboxEntry entry, long created, long claim) {
        long id() {
            return entry.id();
        }

        Stored claimed(long claim) {
            return new Stored(module, entry, created, claim);
        }
    }

    /**
     * A waiting message, as operators see it.
     *
     * @param lastError why the last attempt failed; null: none was made
     */
    record Waiting(long id, String module, String account, String target, long created, int attempts,
            long nextAt, @Nullable String lastError) {}

    /**
     * What waits for one module.
     *
     * @param oldest when its oldest message was stored
     * @param error why the last attempt of its oldest message failed
     */
    record Backlog(String module, long count, long oldest, @Nullable String error) {}

    static void add(Connection change, String module, String account, String target, String body, long now,
            OutboxLimits limits) throws SQLException {
        if (Rows.count(change, "SELECT count(*) FROM platform_outbox WHERE account = ?", account) >= limits
                .perAccount()) {
            throw full(module, limits.perAccount() + " messages of this account");
        }
        if (Rows.count(change, "SELECT count(*) FROM platform_outbox") >= limits.all()) {
            throw full(module, limits.all() + " messages");
        }
        Rows.update(change,
                "INSERT INTO platform_outbox (module, account, target, body, created, attempts, next_at)"
                        + " VALUES (?, ?, ?, ?, ?, 0, ?)",
                module, account, target, body, now, now);
    }

    static boolean isWaiting(Connection connection, String module, String account, String target)
            throws SQLException {
        return Rows.count(connection,
                "SELECT count(*) FROM platform_outbox WHERE account = ? AND module = ? AND target = ?",
                account, module, target) > 0;
    }

    private static StoreException.Full full(String module, String what) {
        return new StoreException.Full("the outbox of " + module + " is full: " + what
                + " wait for their receivers; try again when they can be reached");
    }

    /**
     * The due messages that are the oldest of their target, in the order in which they are due. Leaves out
     * busy targets, as {@link #targetKey}, and busy accounts. On a server the messages are claimed: until
     * they are removed or failed, or {@code claim} is over, no other process gets them.
     *
     * @param claim the time of a delivery, at most
     */
    static List<Stored> due(Database.Engine engine, Connection connection, long now,
            Collection<String> busyTargets, Collection<String> busyAccounts, Collection<String> modules,
            OutboxLimits limits, Duration claim) throws SQLException {
        List<Object> values = new ArrayList<>(modules);
        values.add(now);
        values.addAll(busyAccounts);
        values.addAll(busyTargets);
        List<Stored> due = Rows.list(connection, row -> new Stored(row.getString(2),
                new OutboxEntry(row.getLong(1), row.getString(3), row.getString(4), row.getString(5),
                        row.getInt(6) + 1),
                row.getLong(7), 0),
                "SELECT id, module, account, target, body, attempts, created FROM ("
                        + "SELECT o.*, row_number() OVER (PARTITION BY account ORDER BY next_at, id) AS place"
                        + " FROM platform_outbox o WHERE module IN (" + marks(modules)
                        + ") AND next_at <= ?" + notIn("account", busyAccounts)
                        + notIn("account || ' ' || module || ' ' || target", busyTargets)
                        + switch (engine) {
                            case SQLITE -> "";
                            case POSTGRES -> " AND claimed_until <= " + SERVER_CLOCK;
                        } + " AND NOT EXISTS (SELECT 1 FROM platform_outbox e WHERE e.account = o.account"
                        + " AND e.module = o.module AND e.target = o.target AND e.id < o.id)) heads"
                        + " WHERE place <= " + limits.concurrentPerAccount() + " ORDER BY next_at, id LIMIT "
                        + limits.concurrent(),
                values.toArray());
        return engine == Database.Engine.SQLITE ? due : claimed(connection, due, claim);
    }

    /** Those that no other process claims at the same time. By the server's clock, which all share. */
    private static List<Stored> claimed(Connection connection, List<Stored> due, Duration claim)
            throws SQLException {
        if (due.isEmpty()) {
            return due;
        }
        List<Object> values = new ArrayList<>();
        values.add(claim.toMillis());
        due.forEach(message -> values.add(message.entry().id()));
        Map<Long, Long> own = Rows
                .list(connection, row -> Map.entry(row.getLong(1), row.getLong(2)),
                        "UPDATE platform_outbox SET claim = claim + 1, claimed_until = " + SERVER_CLOCK
                                + " + ? WHERE id IN (SELECT id FROM platform_outbox WHERE id IN ("
                                + marks(due) + ") AND claimed_until <= " + SERVER_CLOCK
                                + " FOR UPDATE SKIP LOCKED) RETURNING id, claim",
                        values.toArray())
                .stream()
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        return due.stream()
                .filter(message -> own.containsKey(message.id()))
                .map(message -> message.claimed(own.getOrDefault(message.id(), 0L)))
                .toList();
    }

    /** Leaves messages that were claimed to other processes. */
    static void release(Connection connection, Collection<Stored> messages) throws SQLException {
        for (Stored message : messages) {
            Rows.update(connection, "UPDATE platform_outbox SET claimed_until = 0 WHERE id = ? AND claim = ?",
                    message.id(), message.claim());
        }
    }

    /**
     * Removes the messages of an account that are not being delivered: on a server the others are claimed.
     *
     * @param kept the ids of those that this process delivers
     */
    static void removeAll(Database.Engine engine, Connection change, String account, Collection<Long> kept)
            throws SQLException {
        List<Object> values = new ArrayList<>();
        values.add(account);
        values.addAll(kept);
        Rows.update(change, "DELETE FROM platform_outbox WHERE account = ?" + notIn("id", kept)
                + (engine == Database.Engine.SQLITE ? "" : " AND claimed_until <= " + SERVER_CLOCK),
                values.toArray());
    }

    /** Names the receiver of a message: modules and accounts do not share receivers. */
    static String targetKey(String module, OutboxEntry entry) {
        return entry.account() + ' ' + module + ' ' + entry.target();
    }

    /** When the next message is due; null: none waits. */
    static @Nullable Long nextAt(Connection connection, long after) throws SQLException {
        List<Long> found = Rows.list(connection, row -> row.getLong(1),
                "SELECT next_at FROM platform_outbox WHERE next_at > ? ORDER BY next_at LIMIT 1", after);
        return found.isEmpty() ? null : found.getFirst();
    }

    /** Removes a message. Returns false if it is no longer this claim's. */
    static boolean remove(Database.Engine engine, Connection connection, Stored message)
            throws SQLException {
        return Rows.update(connection, "DELETE FROM platform_outbox WHERE id = ? AND " + claim(engine),
                message.id(), message.claim()) == 1;
    }

    /** Notes a failed attempt. Returns false if the message is no longer this claim's. */
    static boolean failed(Database.Engine engine, Connection connection, Stored message, long nextAt,
            String error) throws SQLException {
        return Rows.update(connection, "UPDATE platform_outbox SET attempts = ?, next_at = ?, last_error = ?"
                + (engine == Database.Engine.SQLITE ? "" : ", claimed_until = 0") + " WHERE id = ? AND "
                + claim(engine),
                message.entry().attempt(), nextAt, error, message.id(), message.claim()) == 1;
    }

    /** A file has one process, which claims nothing. */
    private static String claim(Database.Engine engine) {
        return engine == Database.Engine.SQLITE ? "0 = ?" : "claim = ?";
    }

    static List<Waiting> oldest(Connection connection, int max) throws SQLException {
        return Rows.list(connection,
                row -> new Waiting(row.getLong(1), row.getString(2), row.getString(3), row.getString(4),
                        row.getLong(5), row.getInt(6), row.getLong(7), row.getString(8)),
                "SELECT id, module, account, target, created, attempts, next_at, last_error"
                        + " FROM platform_outbox ORDER BY id LIMIT " + max);
    }

    static List<Backlog> backlogs(Connection connection) throws SQLException {
        return Rows.list(connection,
                row -> new Backlog(row.getString(1), row.getLong(2), row.getLong(3), row.getString(4)),
                "SELECT m.module, m.messages, o.created, o.last_error FROM (SELECT module, count(*) AS messages,"
                        + " min(id) AS oldest FROM platform_outbox GROUP BY module) m"
                        + " JOIN platform_outbox o ON o.id = m.oldest");
    }

    private static String notIn(String expression, Collection<?> values) {
        return values.isEmpty() ? "" : " AND " + expression + " NOT IN (" + marks(values) + ")";
    }

    private static String marks(Collection<?> values) {
        return String.join(",", Collections.nCopies(values.size(), "?"));
    }
}
