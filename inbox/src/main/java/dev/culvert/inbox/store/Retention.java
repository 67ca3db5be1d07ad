package dev.culvert.inbox.store;

import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.WebhookState;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Deletes webhooks that were kept for the configured time, or that exceed their limits. Over a limit, the
 * runtime with most of them loses its oldest, so that a busy runtime costs no other its replays and known
 * duplicates. While the disk has little room for new webhooks, the oldest content of delivered ones goes
 * first, then the oldest dead ones. Pending webhooks are never touched.
 */
public final class Retention {
    /** The maximum number of deletions in one transaction, during which other tasks wait. */
    public static final int CHUNK = 200;
    /** The maximum number of delivered webhooks, whatever their age. */
    static final long MAX_DELIVERED = 1_000_000;
    private static final String DELIVERED_BYTES = "SELECT coalesce(sum(bytes), 0) FROM usage WHERE source = '' AND state = 1";
    private static final String DEAD_BYTES = "SELECT coalesce(sum(bytes), 0) FROM usage WHERE source = '' AND state = 2";

    private final InboxConfig config;
    private final DiskRoom room;
    private final long maxDelivered;

    public Retention(InboxConfig config, DiskRoom room) {
        this(config, room, MAX_DELIVERED);
    }

    Retention(InboxConfig config, DiskRoom room, long maxDelivered) {
        this.config = config;
        this.room = room;
        this.maxDelivered = maxDelivered;
    }

    /**
     * The result of a step.
     *
     * @param spools the files that no row names any more
     * @param freed the bytes that were freed because the disk has little room
     * @param more whether there is more to delete
     */
    public record Step(List<String> spools, long freed, boolean more) {}

    private record Old(long seq, @Nullable String spool) {}

    /** Runs a bounded step. Only the process that delivers may run it. */
    public Step step(Transaction tx) throws SQLException {
        tx.requireLease();
        List<String> spools = new ArrayList<>();
        int dead = forget(tx, WebhookState.DEAD, tx.now() - config.keepDead().toMillis(), spools);
        // The rows just deleted are still counted, so the next step sees the rest.
        boolean more = dead > 0 || forgetDead(tx, spools);
        int forgotten = forget(tx, WebhookState.DELIVERED, tx.now() - config.keepDelivered().toMillis(),
                spools);
        more |= forgotten >= CHUNK;
        if (forgotten == 0) {
            more |= forgetDelivered(tx, spools) || empty(tx, spools, config.keepDeliveredBytes().bytes()) > 0;
        }
        long freed = more ? 0 : makeRoom(tx, room.shortage(), spools);
        more |= freed > 0;
        more |= InboxVacuum.step(tx);
        return new Step(spools, freed, more || forgotten > 0);
    }

    /** Deletes kept content, then dead webhooks, for new ones. Returns the freed bytes. */
    private static long makeRoom(Transaction tx, long shortage, List<String> spools) throws SQLException {
        if (shortage == 0) {
            return 0;
        }
        long freed = empty(tx, spools, Math.max(0, tx.statements().number(DELIVERED_BYTES) - shortage));
        Heaviest runtime = freed > 0
                ? null
                : heaviest(tx, DEAD_BYTES,
                        "SELECT runtime, bytes FROM usage WHERE source = '' AND state = 2 ORDER BY bytes DESC LIMIT 2",
                        Math.max(0, tx.statements().number(DEAD_BYTES) - shortage));
        if (runtime == null) {
            return freed;
        }
        for (Old one : tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE state = 2 AND runtime = ? ORDER BY ended LIMIT ?",
                        Retention::old, runtime.runtime, CHUNK)) {
            if (freed < runtime.excess) {
                freed += forget(tx, one, spools);
            }
        }
        return freed;
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
     * Deletes the oldest dead webhooks of an event source, or a runtime, that exceeds its limit. Returns
     * whether it found one; others may exceed theirs, too.
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
     * The runtime that holds most, and the amount that it must give up.
     *
     * @param excess the maximum amount, after which another runtime holds more
     */
    private record Heaviest(String runtime, long excess) {}

    /** Returns the runtime that holds most delivered webhooks, if the total exceeds {@code most}. */
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

    /** Deletes the oldest delivered webhooks. Returns whether there may be more. */
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

    /**
     * Deletes the oldest content, then the oldest responses, until the rest is within the limit. Returns the
     * freed bytes; there may be more.
     */
    private static long empty(Transaction tx, List<String> spools, long most) throws SQLException {
        Heaviest runtime = heaviest(tx, DELIVERED_BYTES,
                "SELECT runtime, bytes FROM usage WHERE source = '' AND state = 1 ORDER BY bytes DESC LIMIT 2",
                most);
        if (runtime == null) {
            return 0;
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
            return freed;
        }
        for (Old one : tx.statements()
                .list("SELECT seq, spool FROM webhooks WHERE runtime = ? AND state = 1 AND answer IS NOT NULL"
                        + " ORDER BY seq LIMIT ?", Retention::old, runtime.runtime, CHUNK)) {
            if (freed < runtime.excess) {
                freed += WebhookRows.forgetAnswer(tx, one.seq);
            }
        }
        return freed;
    }
}
