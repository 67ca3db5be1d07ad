package dev.culvert.inbox;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Forgets what was kept long enough. What is pending is never touched. */
final class Retention {
    /** In one transaction: others wait meanwhile. */
    static final int CHUNK = 200;
    /** Delivered webhooks that are remembered, however short ago that was. */
    static final long MAX_DELIVERED = 1_000_000;

    private final InboxConfig config;

    Retention(InboxConfig config) {
        this.config = config;
    }

    /**
     * What a step did.
     *
     * @param spools files that no row names any more
     * @param more whether there is more to forget
     */
    record Step(List<String> spools, boolean more) {}

    private record Old(long seq, @Nullable String spool) {}

    /** A bounded step. Only the process that delivers takes it. */
    Step step(Transaction tx) throws SQLException {
        tx.requireLease();
        List<String> spools = new ArrayList<>();
        int dead = forget(tx, WebhookState.DEAD, tx.now() - config.keepDead().toMillis(), spools);
        // What was just forgotten is still counted: the next step sees what is left.
        boolean more = dead > 0 || forgetDead(tx, spools);
        int forgotten = forget(tx, WebhookState.DELIVERED, tx.now() - config.keepDelivered().toMillis(),
                spools);
        long delivered = tx.statements()
                .number("SELECT coalesce(sum(entries), 0) FROM usage WHERE source = ''"
                        + " AND state = 1");
        if (delivered > MAX_DELIVERED) {
            forgotten += forget(tx, WebhookState.DELIVERED, Long.MAX_VALUE, spools);
        }
        int emptied = empty(tx, spools);
        return new Step(spools, more || forgotten >= CHUNK || emptied >= CHUNK);
    }

    private static int forget(Transaction tx, WebhookState state, long endedBefore, List<String> spools)
            throws SQLException {
        List<Old> old = tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE state = ? AND ended < ? ORDER BY ended LIMIT ?",
                        Retention::old, state.number(), endedBefore, CHUNK);
        for (Old one : old) {
            forget(tx, one, spools);
        }
        return old.size();
    }

    private static Old old(ResultSet row) throws SQLException {
        return new Old(row.getLong(1), row.getString(2));
    }

    private static long forget(Transaction tx, Old one, List<String> spools) throws SQLException {
        if (one.spool != null) {
            spools.add(one.spool);
        }
        return WebhookRows.delete(tx, one.seq).cost();
    }

    private record Excess(String runtime, String source, long bytes) {}

    /**
     * Lets the oldest dead ones go of who has more of them than may be pending: an event source, or a runtime. Returns whether
     * there was one: others may have more, too.
     */
    private boolean forgetDead(Transaction tx, List<String> spools) throws SQLException {
        Excess first = tx.statements()
                .first("SELECT runtime, source, bytes - CASE source WHEN '' THEN ? ELSE ? END AS excess FROM usage"
                        + " WHERE state = 2 AND excess > 0 ORDER BY source DESC LIMIT 1",
                        row -> new Excess(row.getString(1), row.getString(2), row.getLong(3)),
                        config.maxRuntimeBytes().bytes(), config.maxSourceBytes().bytes());
        if (first == null) {
            return false;
        }
        List<Old> old = first.source.isEmpty()
                ? tx.statements()
                        .list("SELECT seq, spool FROM webhooks WHERE state = 2 AND runtime = ?"
                                + " ORDER BY ended LIMIT ?", Retention::old, first.runtime, CHUNK)
                : tx.statements()
                        .list("SELECT seq, spool FROM webhooks WHERE state = 2 AND runtime = ? AND source = ?"
                                + " ORDER BY ended LIMIT ?", Retention::old, first.runtime, first.source,
                                CHUNK);
        long excess = first.bytes;
        for (Old one : old) {
            if (excess > 0) {
                excess -= forget(tx, one, spools);
            }
        }
        return !old.isEmpty();
    }

    /** Lets the oldest content go, until what is left may stay. */
    private int empty(Transaction tx, List<String> spools) throws SQLException {
        long excess = tx.statements()
                .number("SELECT coalesce(sum(bytes), 0) FROM usage WHERE source = ''"
                        + " AND state = 1")
                - config.keepDeliveredBytes().bytes();
        if (excess <= 0) {
            return 0;
        }
        int emptied = 0;
        for (Old one : tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE state = 1 AND content = 1"
                        + " ORDER BY seq LIMIT ?", Retention::old, CHUNK)) {
            if (excess <= 0) {
                return 0;
            }
            excess -= WebhookRows.empty(tx, one.seq);
            if (one.spool != null) {
                spools.add(one.spool);
            }
            emptied++;
        }
        return emptied;
    }
}
