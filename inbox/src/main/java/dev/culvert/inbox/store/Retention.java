package dev.culvert.inbox.store;

import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.WebhookState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Forgets what was kept long enough, and what is beyond the room for it: then the runtime that has most of it gives way, with its
 * oldest, so that a busy one costs no other its replays and its memory of duplicates. What is pending is never touched.
 */
public final class Retention {
    /** In one transaction: others wait meanwhile. */
    public static final int CHUNK = 200;
    /** Delivered webhooks that are remembered, however short ago that was. */
    static final long MAX_DELIVERED = 1_000_000;

    private final InboxConfig config;
    private final long maxDelivered;

    public Retention(InboxConfig config) {
        this(config, MAX_DELIVERED);
    }

    Retention(InboxConfig config, long maxDelivered) {
        this.config = config;
        this.maxDelivered = maxDelivered;
    }

    /**
     * What a step did.
     *
     * @param spools files that no row names any more
     * @param more whether there is more to forget
     */
    public record Step(List<String> spools, boolean more) {}

    private record Old(long seq, @Nullable String spool) {}

    /** A bounded step. Only the process that delivers takes it. */
    public Step step(Transaction tx) throws SQLException {
        tx.requireLease();
        List<String> spools = new ArrayList<>();
        int dead = forget(tx, WebhookState.DEAD, tx.now() - config.keepDead().toMillis(), spools);
        // What was just forgotten is still counted: the next step sees what is left.
        boolean more = dead > 0 || forgetDead(tx, spools);
        int forgotten = forget(tx, WebhookState.DELIVERED, tx.now() - config.keepDelivered().toMillis(),
                spools);
        more |= forgotten >= CHUNK;
        if (forgotten == 0) {
            more |= forgetDelivered(tx, spools) || empty(tx, spools);
        }
        more |= InboxVacuum.step(tx);
        return new Step(spools, more || forgotten > 0);
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

    /**
     * The runtime with most of something, and what it has to give.
     *
     * @param excess at most so much, until another one has more
     */
    private record Heaviest(String runtime, long excess) {}

    /** The runtime that has most, if all together have more than {@code most}; of delivered ones. */
    private static @Nullable Heaviest heaviest(Transaction tx, String sum, String order, long most)
            throws SQLException {
        long excess = tx.statements().number(sum) - most;
        if (excess <= 0) {
            return null;
        }
        List<Heaviest> first = tx.statements()
                .list(order,
                        row -> new Heaviest(row.getString(1), row.getLong(2)));
        if (first.isEmpty()) {
            return null;
        }
        long ahead = first.getFirst().excess - (first.size() > 1 ? first.getLast().excess : 0);
        return new Heaviest(first.getFirst().runtime, Math.clamp(ahead, 1, excess));
    }

    /** Lets the oldest delivered ones go. Returns whether there may be more. */
    private boolean forgetDelivered(Transaction tx, List<String> spools) throws SQLException {
        Heaviest runtime = heaviest(tx,
                "SELECT coalesce(sum(entries), 0) FROM usage WHERE source = '' AND state = 1",
                "SELECT runtime, entries FROM usage WHERE source = '' AND state = 1 ORDER BY entries DESC LIMIT 2",
                maxDelivered);
        if (runtime == null) {
            return false;
        }
        for (Old one : tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE runtime = ? AND state = 1 ORDER BY seq LIMIT ?",
                        Retention::old, runtime.runtime, Math.min(CHUNK, runtime.excess))) {
            forget(tx, one, spools);
        }
        return true;
    }

    /** Lets the oldest content go, then answers, until what is left may stay. Returns whether there may be more. */
    private boolean empty(Transaction tx, List<String> spools) throws SQLException {
        Heaviest runtime = heaviest(tx,
                "SELECT coalesce(sum(bytes), 0) FROM usage WHERE source = '' AND state = 1",
                "SELECT runtime, bytes FROM usage WHERE source = '' AND state = 1 ORDER BY bytes DESC LIMIT 2",
                config.keepDeliveredBytes().bytes());
        if (runtime == null) {
            return false;
        }
        long freed = 0;
        for (Old one : tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE runtime = ? AND state = 1 AND content = 1"
                        + " ORDER BY seq LIMIT ?", Retention::old, runtime.runtime, CHUNK)) {
            if (freed < runtime.excess) {
                freed += WebhookRows.empty(tx, one.seq);
                if (one.spool != null) {
                    spools.add(one.spool);
                }
            }
        }
        if (freed > 0) {
            return true;
        }
        for (Old one : tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE runtime = ? AND state = 1 AND answer IS NOT NULL"
                        + " ORDER BY seq LIMIT ?", Retention::old, runtime.runtime, CHUNK)) {
            if (freed < runtime.excess) {
                freed += WebhookRows.forgetAnswer(tx, one.seq);
            }
        }
        return freed > 0;
    }
}
