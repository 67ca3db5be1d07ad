package dev.culvert.inbox;

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
        int forgotten = forget(tx, WebhookState.DEAD, tx.now() - config.keepDead().toMillis(), spools)
                + forget(tx, WebhookState.DELIVERED, tx.now() - config.keepDelivered().toMillis(), spools);
        long delivered = tx.statements()
                .number("SELECT coalesce(sum(entries), 0) FROM usage WHERE source = ''"
                        + " AND state = 1");
        if (delivered > MAX_DELIVERED) {
            forgotten += forget(tx, WebhookState.DELIVERED, Long.MAX_VALUE, spools);
        }
        int emptied = empty(tx, spools);
        return new Step(spools, forgotten >= CHUNK || emptied >= CHUNK);
    }

    private static int forget(Transaction tx, WebhookState state, long endedBefore, List<String> spools)
            throws SQLException {
        // Rows end about in the order in which they came: the first ones are looked at, not all.
        List<Old> old = tx.statements()
                .list("SELECT seq, spool FROM (SELECT seq, spool, ended FROM webhooks"
                        + " WHERE state = ? ORDER BY seq LIMIT ?) WHERE ended < ?",
                        row -> new Old(row.getLong(1), row.getString(2)), state.number(), CHUNK,
                        endedBefore);
        for (Old one : old) {
            WebhookRows.delete(tx, one.seq);
            if (one.spool != null) {
                spools.add(one.spool);
            }
        }
        return old.size();
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
                        + " ORDER BY seq LIMIT ?", row -> new Old(row.getLong(1), row.getString(2)), CHUNK)) {
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
