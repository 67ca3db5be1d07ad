package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The webhooks to deliver to one event source. The line holds the first ones in the order of their arrival;
 * webhooks that stepped aside are held apart, by time. Both are windows: later webhooks stay on disk and are
 * read when there is room. Belongs to the dispatcher's thread.
 */
public final class SourceQueue {
    /** The number of webhooks read at once. Enough to deliver while the next are read. */
    public static final int WINDOW = 64;
    /** The queue length from which no more are read, even if all failed. At most one more window is held. */
    static final int MAX_LOADED = Probes.MAX_IN_A_ROW;
    /** The maximum number of concurrent attempts at an unordered source. */
    static final int UNORDERED = 8;
    private static final long NEVER = Long.MAX_VALUE;
    /**
     * Give a webhook up only this long after it was due, if its source refuses all connections: the source
     * may not exist.
     */
    private static final long PATIENCE = Duration.ofDays(7).toMillis();
    /**
     * Give it up only if the source has also refused for at least this long, so it can recover from an
     * outage.
     */
    private static final long MIN_REFUSED = Duration.ofDays(1).toMillis();
    /**
     * The shorter time for a source that never accepted a webhook and whose name does not resolve: it was
     * invented or mistyped.
     */
    private static final long PATIENCE_WITH_NONE = Duration.ofHours(1).toMillis();
    /**
     * The time for which the cluster's policy may refuse a webhook before it is given up: time to repair a
     * mistake in an allow-list.
     */
    public static final Duration FORBIDDEN = Duration.ofHours(1);

    public final RuntimeQueue runtime;
    public final String key;
    final boolean ordered;
    private final TreeMap<Long, QueuedWebhook> line = new TreeMap<>();
    private final TreeSet<QueuedWebhook> aside = new TreeSet<>(
            Comparator.comparingLong((QueuedWebhook webhook) -> webhook.next)
                    .thenComparingLong(webhook -> webhook.seq));
    /** The highest sequence number that was in the line. The next read starts after it. */
    private long lastSeq;
    private boolean moreInLine;
    private boolean moreAside;
    private boolean loadingLine;
    private boolean loadingAside;
    /** A webhook was added that the read in progress may not contain. */
    private boolean missedInLine;
    private boolean missedAside;
    private int lineFlying;
    private int asideFlying;
    /** The time before which no attempt begins. */
    private long gate;
    /** The number of consecutive refused attempts. Above 0, only one attempt runs at a time. */
    int refusals;
    /**
     * The time since which all attempts were refused, while this process delivered and the runtime was
     * connected.
     */
    private long refusedSince = NEVER;
    /** The time since which no attempt has resolved its name. */
    private long namelessSince = NEVER;
    /** Whether it responded while this process delivered. */
    private boolean hasAnswered;
    /** The time since which the cluster's policy has refused all attempts, under the same conditions. */
    private long forbiddenSince = NEVER;
    private final Probes probes = new Probes();
    boolean paused;
    /** Whether it is queued in its runtime's turn. */
    boolean queued;
    /** The time of its next check; {@link #NEVER}: when an event occurs. */
    long wakeAt = NEVER;

    SourceQueue(RuntimeQueue runtime, String key, boolean ordered) {
        this.runtime = runtime;
        this.key = key;
        this.ordered = ordered;
    }

    /** Adds a stored webhook. Returns false if it stays on disk for now. */
    boolean add(QueuedWebhook webhook) {
        missedInLine |= loadingLine;
        if (moreInLine || loadingLine || line.size() >= WINDOW) {
            moreInLine = true;
            return false;
        }
        line.put(webhook.seq, webhook);
        lastSeq = webhook.seq;
        return true;
    }

    /** Records that webhooks are on disk that are not in this window. */
    void foundInLine() {
        moreInLine = true;
        missedInLine |= loadingLine;
    }

    void foundAside() {
        moreAside = true;
        missedAside |= loadingAside;
    }

    /** Whether to read the line after {@link #lastSeq}. If true, the read counts as in progress. */
    boolean wantsLine() {
        boolean wants = moreInLine && !loadingLine && line.size() < MAX_LOADED && untried() < WINDOW / 2;
        loadingLine |= wants;
        return wants;
    }

    /** Returns the number of untried webhooks in the queue: failed ones must not keep others on the disk. */
    private long untried() {
        return line.values().stream().filter(waiting -> waiting.failures == 0).count();
    }

    boolean wantsAside() {
        boolean wants = moreAside && !loadingAside && aside.isEmpty();
        loadingAside |= wants;
        return wants;
    }

    public long lastSeq() {
        return lastSeq;
    }

    /** The number of rows to read of those that stand aside. Rows in progress may be among them. */
    public int asideLimit() {
        return WINDOW + asideFlying;
    }

    void loadedLine(List<QueuedWebhook> rows) {
        loadingLine = false;
        moreInLine = missedInLine || rows.size() >= WINDOW;
        missedInLine = false;
        for (QueuedWebhook row : rows) {
            line.put(row.seq, row);
            lastSeq = Math.max(lastSeq, row.seq);
        }
    }

    /** @param rows the rows read, without those in progress */
    void loadedAside(List<QueuedWebhook> rows, boolean complete) {
        loadingAside = false;
        moreAside = missedAside || !complete;
        missedAside = false;
        aside.addAll(rows);
    }

    /** Records that a read failed. It is repeated later. */
    void loadFailed(boolean ofLine) {
        if (ofLine) {
            loadingLine = false;
        } else {
            loadingAside = false;
        }
    }

    /** Returns the webhook to send now and counts it as in progress; null: none. */
    @Nullable
    QueuedWebhook take(long now) {
        if (isHeldBack(now) || refusals > 0 && lineFlying + asideFlying > 0) {
            return null;
        }
        QueuedWebhook due = aside.isEmpty() ? null : aside.first();
        if (due != null && due.isDue(now) && asideFlying == 0) {
            aside.remove(due);
            asideFlying++;
            due.probing = false;
            return due;
        }
        QueuedWebhook first = line.isEmpty() ? null : line.firstEntry().getValue();
        if (first != null && first.isDue(now) && lineFlying < mostFlying()) {
            return taken(first, false);
        }
        QueuedWebhook probe = mayProbe() ? probes.next(line.values(), now) : null;
        return probe == null ? null : taken(probe, true);
    }

    private QueuedWebhook taken(QueuedWebhook webhook, boolean probing) {
        line.remove(webhook.seq);
        lineFlying++;
        webhook.probing = probing;
        return webhook;
    }

    private boolean mayProbe() {
        return ordered && lineFlying == 0 && refusals == 0;
    }

    /** Whether later webhooks are sent although the first one is not due. */
    boolean isProbing(long now) {
        return mayProbe() ? probes.at(line.values()) <= now : lineFlying > 0;
    }

    /** An attempt failed or timed out at the event source. */
    void failed(QueuedWebhook webhook, long now, @Nullable Duration asked) {
        if (!webhook.aside) {
            probes.failed(webhook, now, asked);
        }
    }

    /** Returns the webhooks that leave the order once {@code webhook} has its final response. */
    List<QueuedWebhook> outOfOrder(QueuedWebhook webhook) {
        return webhook.probing
                ? probes.outOfOrder(webhook, line.headMap(webhook.seq).values())
                : List.of();
    }

    /** A webhook has its final response, and {@code outOfOrder} leave the order. */
    void passed(QueuedWebhook webhook, long now, List<QueuedWebhook> outOfOrder) {
        for (QueuedWebhook out : outOfOrder) {
            if (line.remove(out.seq, out)) {
                out.aside = true;
                standAside(out);
            }
        }
        if (!webhook.aside && ordered) {
            probes.passed(webhook, now, line.values());
        }
    }

    private int mostFlying() {
        return ordered ? 1 : UNORDERED;
    }

    /** Records that an attempt was refused while the runtime was connected. */
    void refused(long now) {
        refusals++;
        refusedSince = Math.min(refusedSince, now);
        forbiddenSince = NEVER;
    }

    /** Records that the cluster's policy refused an attempt. */
    void forbidden(long now) {
        refusals++;
        forbiddenSince = Math.min(forbiddenSince, now);
    }

    /** Records an attempt that was not refused. */
    void answered() {
        refusals = 0;
        forgiveRefusals();
        hasAnswered = true;
    }

    void resolved(boolean named, long now) {
        namelessSince = named ? NEVER : Math.min(namelessSince, now);
    }

    /** Forgets earlier refusals, because the runtime was away. */
    void forgiveRefusals() {
        refusedSince = NEVER;
        namelessSince = NEVER;
        forbiddenSince = NEVER;
    }

    /** The clock was set back to {@code now}: what was due by it is due after the schedule's longest wait. */
    void setBack(long now) {
        line.values().forEach(webhook -> webhook.next = RetrySchedule.bounded(webhook.next, now));
        List<QueuedWebhook> sorted = List.copyOf(aside);
        aside.clear(); // its order is by these times
        sorted.forEach(webhook -> webhook.next = RetrySchedule.bounded(webhook.next, now));
        aside.addAll(sorted);
        gate = Math.min(gate, now);
        refusedSince = earlier(refusedSince, now);
        namelessSince = earlier(namelessSince, now);
        forbiddenSince = earlier(forbiddenSince, now);
        probes.setBack(now);
        wakeAt = NEVER;
    }

    private static long earlier(long since, long now) {
        return since == NEVER ? NEVER : Math.min(since, now);
    }

    /** Whether a webhook that is refused now is given up. */
    boolean isGivenUp(QueuedWebhook webhook, long now) {
        long waited = now - Math.max(webhook.stored, webhook.next);
        boolean neverThere = !webhook.known && !hasAnswered && namelessSince <= now - PATIENCE_WITH_NONE;
        return waited >= PATIENCE && refusedSince <= now - MIN_REFUSED
                || waited >= PATIENCE_WITH_NONE && neverThere;
    }

    /** Whether a webhook that the cluster's policy refuses now is given up. */
    boolean isForbiddenForGood(QueuedWebhook webhook, long now) {
        return now - Math.max(webhook.stored, webhook.next) >= FORBIDDEN.toMillis()
                && forbiddenSince <= now - FORBIDDEN.toMillis();
    }

    boolean isHeldBack(long now) {
        return paused || now < gate;
    }

    /** Returns the next webhook in the line. */
    @Nullable
    QueuedWebhook follower() {
        return line.isEmpty() ? null : line.firstEntry().getValue();
    }

    /** A webhook is not in progress any more and leaves this queue. */
    void leave(boolean wasAside) {
        if (wasAside) {
            asideFlying--;
        } else {
            lineFlying--;
        }
    }

    /** A webhook is not in progress any more and waits for its time, in line or aside. */
    void putBack(QueuedWebhook webhook, boolean wasAside) {
        leave(wasAside);
        if (!webhook.aside) {
            line.put(webhook.seq, webhook);
            lastSeq = Math.max(lastSeq, webhook.seq);
        } else {
            standAside(webhook);
        }
    }

    private void standAside(QueuedWebhook webhook) {
        missedAside |= loadingAside;
        if (moreAside && (aside.isEmpty() || webhook.next >= aside.last().next)) {
            webhook.drop();
            return;
        }
        aside.add(webhook);
        if (aside.size() > WINDOW) {
            moreAside = true;
            QueuedWebhook last = aside.pollLast();
            if (last != null) {
                last.drop();
            }
        }
    }

    /** Sets the time before which no attempt begins. */
    void gate(long until) {
        gate = until;
    }

    /** Removes and returns a deleted webhook that is not in progress. */
    @Nullable
    QueuedWebhook remove(long seq) {
        QueuedWebhook gone = line.remove(seq);
        if (gone != null) {
            return gone;
        }
        for (QueuedWebhook webhook : aside) {
            if (webhook.seq == seq) {
                aside.remove(webhook);
                return webhook;
            }
        }
        return null;
    }

    /** Returns the time at which there may be a webhook to send; {@link Long#MAX_VALUE}: unknown. */
    long nextAt() {
        if (paused || lineFlying + asideFlying > 0 && refusals > 0) {
            return NEVER;
        }
        long first = line.isEmpty() || lineFlying >= mostFlying()
                ? NEVER
                : line.firstEntry().getValue().dueAt();
        if (mayProbe()) {
            first = Math.min(first, probes.at(line.values()));
        }
        long due = aside.isEmpty() || asideFlying > 0 ? NEVER : aside.first().dueAt();
        long at = Math.min(first, due);
        return at == NEVER ? NEVER : Math.max(at, gate);
    }

    /** Whether this queue can be removed. */
    boolean isIdle() {
        return line.isEmpty() && aside.isEmpty() && lineFlying + asideFlying == 0 && !moreInLine && !moreAside
                && !loadingLine && !loadingAside && !paused;
    }

    /** Removes all webhooks that are not in progress. */
    void dropAll() {
        acceptAll();
        line.clear();
        aside.clear();
    }

    /** Answers the waiting callers and releases the contents in memory. */
    void acceptAll() {
        line.values().forEach(SourceQueue::letGo);
        aside.forEach(SourceQueue::letGo);
    }

    private static void letGo(QueuedWebhook webhook) {
        webhook.accept();
        webhook.drop();
    }
}
