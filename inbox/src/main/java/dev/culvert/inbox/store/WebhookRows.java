package dev.culvert.inbox.store;

import dev.culvert.inbox.model.IncomingWebhook;
import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.Receipt;
import dev.culvert.inbox.model.SourceKey;
import dev.culvert.inbox.model.StoredAnswer;
import dev.culvert.inbox.model.WebhookBody;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.queue.DispatchPlan;
import dev.culvert.inbox.queue.RetrySchedule;
import dev.culvert.store.StoreException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The rows of webhooks: changes them in transactions of the {@link CommitThread}, and reads them for the
 * dispatcher.
 */
public final class WebhookRows {
    /** The time for which duplicates of a webhook are not delivered. */
    private static final Duration DUPLICATES = Duration.ofHours(24);
    private static final String DISPATCHED = "seq, id, runtime, source, ordered, stored, begun, failures, next, aside,"
            + " dedupe IS NOT NULL, EXISTS (SELECT 1 FROM sources WHERE sources.runtime = webhooks.runtime"
            + " AND sources.source = webhooks.source), refused";

    /** The maximum number of a source's webhooks that give way at once. */
    static final int GIVING_WAY = 256;
    /** The outcome of webhooks that gave way to those of a new event source. */
    public static final String GAVE_WAY = "gave-way";

    private WebhookRows() {}

    /** The properties of a row that ends. */
    public record Settled(String runtime, String source, WebhookState state, long cost,
            @Nullable String spool) {}

    /**
     * Stores a webhook that is no {@link #duplicate} and that the quota admits.
     *
     * @param idle whether a source of a runtime has no webhook to deliver; then the number of the first
     *     attempt is reserved in the same transaction
     */
    public static Receipt store(Transaction tx, IncomingWebhook draft, BiPredicate<String, String> idle)
            throws SQLException {
        String source = draft.route().source();
        if (draft.route().named()) {
            tx.addKnown(draft.runtime(), source);
        }
        boolean reserve = tx.isHolding() && idle.test(draft.runtime(), source)
                && tx.isFirst(draft.runtime(), source);
        long seq = tx.nextSeq();
        WebhookBody content = draft.content();
        String spool = content.spool == null ? null : SpoolFolder.name(content.spool);
        tx.update(
                "INSERT INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, ?, 0, '', ?, NULL, 1, ?, NULL, 0, 0)",
                seq, draft.id(), draft.runtime(), source, draft.route().inOrder() ? 1 : 0, draft.method(),
                draft.authority(), draft.target(), content.size, draft.cost(), draft.known().provider,
                draft.known().dedupe,
                reserve ? 1 : 0, tx.now(), tx.now(), spool);
        tx.update("INSERT INTO contents VALUES (?, ?, ?, ?)", seq, content.fields, content.body,
                draft.known().hash);
        tx.count(draft.runtime(), source, WebhookState.PENDING, 1, draft.cost());
        var pending = new QueuedWebhook(seq, draft.id(), draft.runtime(), source, draft.route().inOrder(),
                tx.now());
        pending.begun = reserve ? 1 : 0;
        pending.reserved = reserve;
        pending.next = tx.now();
        pending.remembered = draft.known().dedupe != null;
        pending.known = tx.isKnown(draft.runtime(), source);
        pending.content = content;
        pending.loop = draft.loop();
        pending.waiters.add(draft.waiter());
        return new Receipt.Stored(pending);
    }

    /** Returns the webhook that this one repeats; null: it is a new one. */
    public static @Nullable Receipt duplicate(Transaction tx, IncomingWebhook draft) throws SQLException {
        return draft.known().dedupe == null
                ? null
                : tx.statements()
                        .first("SELECT seq, id, source, state, answer FROM webhooks WHERE dedupe = ? AND state <> 2"
                                + " AND stored > ? ORDER BY seq LIMIT 1", row -> {
                                    byte[] answer = row.getBytes(5);
                                    return new Receipt.Duplicate(row.getLong(1), row.getString(2),
                                            draft.runtime(),
                                            row.getString(3),
                                            row.getInt(4) == WebhookState.PENDING.number(),
                                            answer == null ? null : StoredAnswer.decode(answer));
                                }, draft.known().dedupe, tx.now() - DUPLICATES.toMillis());
    }

    /** Records that an attempt is about to be sent. Returns false if the webhook is not pending any more. */
    public static boolean begin(Transaction tx, long seq) throws SQLException {
        tx.requireLease();
        return tx.update("UPDATE webhooks SET begun = begun + 1, unsent = 0 WHERE seq = ? AND state = 0",
                seq) == 1;
    }

    /**
     * Records that the webhook could not be sent. Returns false if it is not pending any more.
     *
     * @param unsent whether the last attempt that was begun was not sent
     */
    public static boolean note(Transaction tx, long seq, String outcome, int refused, boolean unsent)
            throws SQLException {
        tx.requireLease();
        return tx.update(
                "UPDATE webhooks SET outcome = ?, refused = ?, unsent = ? WHERE seq = ? AND state = 0",
                outcome, refused, unsent ? 1 : 0, seq) == 1;
    }

    /** Schedules the next attempt at {@code next}. Returns false if the webhook is not pending any more. */
    public static boolean retry(Transaction tx, long seq, int failures, long next, boolean aside, int refused,
            String outcome) throws SQLException {
        tx.requireLease();
        return tx.update(
                "UPDATE webhooks SET failures = ?, next = ?, aside = ?, refused = ?, unsent = 0, outcome = ?"
                        + " WHERE seq = ? AND state = 0",
                failures, next, aside ? 1 : 0, refused, outcome, seq) == 1;
    }

    /** Webhooks that are due after the schedule's longest wait are due now: the clock was ahead. */
    public static boolean boundDue(Transaction tx) throws SQLException {
        tx.requireLease();
        tx.update("UPDATE webhooks SET next = ? WHERE state = 0 AND next > ?", tx.now(),
                tx.now() + RetrySchedule.LONGEST.toMillis());
        return true;
    }

    /** Takes the webhook out of its source's order. */
    public static void stepAside(Transaction tx, long seq) throws SQLException {
        tx.requireLease();
        tx.update("UPDATE webhooks SET aside = 1 WHERE seq = ? AND state = 0", seq);
    }

    /**
     * Ends the webhook as delivered or dead. Returns false if it was not pending any more.
     *
     * @param pending the webhook, whose number of refusals is stored, and whether its last attempt was sent
     */
    public static boolean end(Transaction tx, QueuedWebhook pending, WebhookState state, String outcome,
            byte @Nullable [] answer) throws SQLException {
        long seq = pending.seq;
        tx.requireLease();
        Settled row = row(tx, seq);
        if (row == null || row.state != WebhookState.PENDING) {
            return false;
        }
        int kept = answer == null ? 0 : answer.length;
        tx.update(
                "UPDATE webhooks SET state = ?, outcome = ?, ended = ?, answer = ?, cost = cost + ?, refused = ?,"
                        + " unsent = ? WHERE seq = ?",
                state.number(), outcome, tx.now(), answer, kept, pending.refused, pending.reserved ? 1 : 0,
                seq);
        tx.count(row.runtime, row.source, row.state, -1, -row.cost);
        tx.count(row.runtime, row.source, state, 1, row.cost + kept);
        if (state == WebhookState.DELIVERED) {
            tx.addKnown(row.runtime, row.source);
        }
        return true;
    }

    /** Appends the webhook to its source's queue. Throws {@link StoreException}. */
    public static QueuedWebhook replay(Transaction tx, String id) throws SQLException {
        Long seq = tx.statements().first("SELECT seq FROM webhooks WHERE id = ?", row -> row.getLong(1), id);
        Settled row = seq == null ? null : row(tx, seq);
        if (seq == null || row == null) {
            throw new StoreException.Absent("there is no webhook " + id);
        }
        if (row.state == WebhookState.PENDING) {
            throw new StoreException.Conflict(
                    "the webhook is still pending (expected: one that is delivered or dead)");
        }
        if (tx.statements().number("SELECT content FROM webhooks WHERE seq = ?", seq) == 0) {
            throw new StoreException.Conflict("the webhook's content is not kept any more");
        }
        return append(tx, seq, row);
    }

    /** Appends a webhook that ended and still has its content to its source's queue. */
    static QueuedWebhook append(Transaction tx, long seq, Settled row) throws SQLException {
        long kept = Math.min(row.cost,
                tx.statements()
                        .number("SELECT coalesce(length(answer), 0) FROM webhooks WHERE seq = ?", seq));
        long next = tx.nextSeq();
        tx.update(
                "UPDATE webhooks SET seq = ?, state = 0, failures = 0, next = ?, aside = 0, ended = NULL, answer = NULL"
                        + " WHERE seq = ?",
                next, tx.now(), seq);
        tx.update("UPDATE contents SET seq = ? WHERE seq = ?", next, seq);
        tx.update("UPDATE webhooks SET cost = cost - ? WHERE seq = ?", kept, next);
        tx.count(row.runtime, row.source, row.state, -1, -row.cost);
        tx.count(row.runtime, row.source, WebhookState.PENDING, 1, row.cost - kept);
        QueuedWebhook again = tx.statements()
                .first("SELECT " + DISPATCHED + " FROM webhooks WHERE seq = ?",
                        WebhookRows::pending, next);
        return Objects.requireNonNull(again);
    }

    /** Deletes the webhook. Returns its row. Throws {@link StoreException.Absent}. */
    public static Settled delete(Transaction tx, long seq) throws SQLException {
        Settled row = row(tx, seq);
        if (row == null) {
            throw new StoreException.Absent("there is no such webhook");
        }
        tx.update("DELETE FROM webhooks WHERE seq = ?", seq);
        tx.update("DELETE FROM contents WHERE seq = ?", seq);
        tx.count(row.runtime, row.source, row.state, -1, -row.cost);
        return row;
    }

    /** Deletes the content but keeps the response, which still counts. Returns the freed bytes. */
    static long empty(Transaction tx, long seq) throws SQLException {
        tx.update("DELETE FROM contents WHERE seq = ?", seq);
        return shrink(tx, seq,
                "UPDATE webhooks SET content = 0, cost = coalesce(length(answer), 0), spool = NULL WHERE seq = ?");
    }

    /** Deletes the response of a webhook without content. Returns the freed bytes. */
    static long forgetAnswer(Transaction tx, long seq) throws SQLException {
        return shrink(tx, seq, "UPDATE webhooks SET answer = NULL, cost = 0 WHERE seq = ?");
    }

    private static long shrink(Transaction tx, long seq, String update) throws SQLException {
        Settled before = row(tx, seq);
        tx.update(update, seq);
        Settled after = row(tx, seq);
        if (before == null || after == null) {
            return 0;
        }
        tx.count(before.runtime, before.source, before.state, 0, after.cost - before.cost);
        return before.cost - after.cost;
    }

    /**
     * Ends webhooks of sources whose names do not resolve: dead, the oldest first. Returns them. Needs the
     * lease, if there are some.
     */
    static List<QueuedWebhook> giveWay(Transaction tx, String runtime, List<NewSource> sources)
            throws SQLException {
        List<QueuedWebhook> gone = new ArrayList<>();
        for (NewSource source : sources) {
            List<QueuedWebhook> some = tx.statements()
                    .list("SELECT " + DISPATCHED
                            + " FROM webhooks WHERE state = 0 AND runtime = ? AND source = ?"
                            + " ORDER BY seq LIMIT ?", WebhookRows::pending, runtime, source.source(),
                            GIVING_WAY);
            for (QueuedWebhook pending : some) {
                if (end(tx, pending, WebhookState.DEAD, GAVE_WAY, null)) {
                    gone.add(pending);
                }
            }
        }
        return gone;
    }

    static @Nullable Settled row(Transaction tx, long seq) throws SQLException {
        return tx.statements()
                .first("SELECT runtime, source, state, cost, spool FROM webhooks WHERE seq = ?",
                        row -> new Settled(row.getString(1), row.getString(2), WebhookState.at(row.getInt(3)),
                                row.getLong(4),
                                row.getString(5)),
                        seq);
    }

    // ---- reads for the dispatcher ----

    /** Returns the sources with pending webhooks that were stored after {@code known}. */
    static List<SourceKey> storedSince(Statements statements, long known) throws SQLException {
        return statements
                .list("SELECT runtime, source, max(ordered) FROM webhooks WHERE seq > ? AND state = 0"
                        + " GROUP BY runtime, source", WebhookRows::source, known);
    }

    /** Returns the sources with pending webhooks. */
    public static List<SourceKey> pendingSources(Statements statements) throws SQLException {
        return statements.list("SELECT runtime, source, max(ordered) FROM webhooks WHERE state = 0"
                + " GROUP BY runtime, source", WebhookRows::source);
    }

    /** Returns the paused sources, as {@link DispatchPlan#name} names them. */
    public static Set<String> paused(Statements statements) throws SQLException {
        return new HashSet<>(statements.list("SELECT runtime, source FROM paused",
                row -> DispatchPlan.name(row.getString(1), row.getString(2))));
    }

    private static SourceKey source(ResultSet row) throws SQLException {
        return new SourceKey(row.getString(1), row.getString(2), row.getInt(3) != 0);
    }

    static List<QueuedWebhook> inLine(Statements statements, String runtime, String source, long after,
            int limit)
            throws SQLException {
        return statements.list(
                "SELECT " + DISPATCHED + " FROM webhooks WHERE state = 0 AND aside = 0 AND runtime = ?"
                        + " AND source = ? AND seq > ? ORDER BY seq LIMIT ?",
                WebhookRows::pending, runtime, source, after,
                limit);
    }

    static List<QueuedWebhook> aside(Statements statements, String runtime, String source, int limit)
            throws SQLException {
        return statements.list(
                "SELECT " + DISPATCHED + " FROM webhooks WHERE state = 0 AND aside = 1 AND runtime = ?"
                        + " AND source = ? ORDER BY next LIMIT ?",
                WebhookRows::pending, runtime, source, limit);
    }

    private static QueuedWebhook pending(ResultSet row) throws SQLException {
        var pending = new QueuedWebhook(row.getLong(1), row.getString(2), row.getString(3), row.getString(4),
                row.getInt(5) != 0, row.getLong(6));
        pending.begun = row.getInt(7);
        pending.failures = row.getInt(8);
        pending.next = row.getLong(9);
        pending.aside = row.getInt(10) != 0;
        pending.remembered = row.getInt(11) != 0;
        pending.known = row.getInt(12) != 0;
        pending.refused = row.getInt(13);
        return pending;
    }
}
