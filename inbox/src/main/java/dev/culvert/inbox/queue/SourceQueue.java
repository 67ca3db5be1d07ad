package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What is to be delivered to one event source: the beginning of its line, in order, and of those that stand aside, by their
 * time. Both are windows: what is beyond stays on the disk, and is read when there is room. Of the dispatcher's thread.
 */
public final class SourceQueue {
    /** Read at once: enough to be busy while the next are read. */
    public static final int WINDOW = 64;
    /** Attempts at once to a source that wants no order. */
    static final int UNORDERED = 8;
    private static final long NEVER = Long.MAX_VALUE;
    /** So long after it was due a webhook is given up, when its source refuses all: there may be none of that name. */
    private static final long PATIENCE = Duration.ofDays(7).toMillis();
    /** So long its source must have refused by then: after an outage it needs time to come up. */
    private static final long LEAST_REFUSED = Duration.ofDays(1).toMillis();
    /** The same, of a source that never accepted a webhook and whose name does not resolve: it was invented, or is a typing error. */
    private static final long PATIENCE_WITH_NONE = Duration.ofHours(1).toMillis();
    /** How long the cluster's policy may refuse a webhook before it is given up: time to repair a mistake in an allow-list. */
    public static final Duration FORBIDDEN = Duration.ofHours(1);

    public final RuntimeQueue runtime;
    public final String key;
    final boolean ordered;
    private final TreeMap<Long, QueuedWebhook> line = new TreeMap<>();
    private final TreeSet<QueuedWebhook> aside = new TreeSet<>(
            Comparator.comparingLong((QueuedWebhook pending) -> pending.next)
                    .thenComparingLong(pending -> pending.seq));
    /** The last one that was in the line: what is read next comes after it. */
    private long lastSeq;
    private boolean moreInLine;
    private boolean moreAside;
    private boolean loadingLine;
    private boolean loadingAside;
    /** Something came that what is being read may lack. */
    private boolean missedInLine;
    private boolean missedAside;
    private int lineFlying;
    private int asideFlying;
    /** Nothing is tried before. */
    private long gate;
    /** Attempts in a row that were refused: one is tried at a time until one is not. */
    int refusals;
    /** Since when all of them were, as far as this process saw it and its runtime was there. */
    private long refusedSince = NEVER;
    /** Since when its name has not resolved, each time. */
    private long namelessSince = NEVER;
    /** Whether it answered while this process delivered. */
    private boolean hasAnswered;
    /** Since when the cluster's policy has refused all of them, as above. */
    private long forbiddenSince = NEVER;
    private final Probes probes = new Probes();
    boolean paused;
    /** Whether it stands in its runtime's turn. */
    boolean queued;
    /** When it is looked at again; {@link #NEVER}: when something happens. */
    long wakeAt = NEVER;

    SourceQueue(RuntimeQueue runtime, String key, boolean ordered) {
        this.runtime = runtime;
        this.key = key;
        this.ordered = ordered;
    }

    /** A webhook was stored. False: it stays on the disk for now. */
    boolean add(QueuedWebhook pending) {
        missedInLine |= loadingLine;
        if (moreInLine || loadingLine || line.size() >= WINDOW) {
            moreInLine = true;
            return false;
        }
        line.put(pending.seq, pending);
        lastSeq = pending.seq;
        return true;
    }

    /** There is something on the disk that is not here. */
    void foundInLine() {
        moreInLine = true;
        missedInLine |= loadingLine;
    }

    void foundAside() {
        moreAside = true;
        missedAside |= loadingAside;
    }

    /** Whether the line is to be read, after {@link #lastSeq}; from now on it is being read. */
    boolean wantsLine() {
        boolean wants = moreInLine && !loadingLine && line.size() < WINDOW / 2;
        loadingLine |= wants;
        return wants;
    }

    boolean wantsAside() {
        boolean wants = moreAside && !loadingAside && aside.isEmpty();
        loadingAside |= wants;
        return wants;
    }

    public long lastSeq() {
        return lastSeq;
    }

    /** How many of those that stand aside are to be read: those under way may be among them. */
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

    /** @param rows without those under way */
    void loadedAside(List<QueuedWebhook> rows, boolean complete) {
        loadingAside = false;
        moreAside = missedAside || !complete;
        missedAside = false;
        aside.addAll(rows);
    }

    /** Reading failed: it is read again later. */
    void loadFailed(boolean ofLine) {
        if (ofLine) {
            loadingLine = false;
        } else {
            loadingAside = false;
        }
    }

    /** What may be sent now, which is then under way; null: nothing. */
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

    private QueuedWebhook taken(QueuedWebhook pending, boolean probing) {
        line.remove(pending.seq);
        lineFlying++;
        pending.probing = probing;
        return pending;
    }

    private boolean mayProbe() {
        return ordered && lineFlying == 0 && refusals == 0;
    }

    /** Whether those behind the first one are sent although that is not due. */
    boolean isProbing(long now) {
        return mayProbe() ? probes.at(line.values()) <= now : lineFlying > 0;
    }

    /** The event source answered with failure, or not in time. */
    void failed(QueuedWebhook pending, long now, @Nullable Duration asked) {
        if (!pending.aside) {
            probes.failed(pending, now, asked);
        }
    }

    /** What is out of order once {@code pending} was answered for good. */
    List<QueuedWebhook> outOfOrder(QueuedWebhook pending) {
        return pending.probing
                ? probes.outOfOrder(pending, line.headMap(pending.seq).values())
                : List.of();
    }

    /** A webhook was answered for good, so that {@code outOfOrder} are. */
    void passed(QueuedWebhook pending, long now, List<QueuedWebhook> outOfOrder) {
        if (!pending.aside && ordered) {
            probes.passed(pending, now, line.values());
        }
        for (QueuedWebhook out : outOfOrder) {
            if (line.remove(out.seq, out)) {
                out.aside = true;
                standAside(out);
            }
        }
    }

    private int mostFlying() {
        return ordered ? 1 : UNORDERED;
    }

    /** An attempt was refused, while the runtime was there. */
    void refused(long now) {
        refusals++;
        refusedSince = Math.min(refusedSince, now);
        forbiddenSince = NEVER;
    }

    /** An attempt was refused by the cluster's policy. */
    void forbidden(long now) {
        refusals++;
        forbiddenSince = Math.min(forbiddenSince, now);
    }

    /** An attempt was not refused. */
    void answered() {
        refusals = 0;
        forgiveRefusals();
        hasAnswered = true;
    }

    void resolved(boolean named, long now) {
        namelessSince = named ? NEVER : Math.min(namelessSince, now);
    }

    /** Its runtime was away: what was refused before counts for nothing. */
    void forgiveRefusals() {
        refusedSince = NEVER;
        namelessSince = NEVER;
        forbiddenSince = NEVER;
    }

    /** Whether a webhook that is refused now need not be kept for another attempt. */
    boolean isGivenUp(QueuedWebhook pending, long now) {
        long waited = now - Math.max(pending.stored, pending.next);
        boolean neverThere = !pending.known && !hasAnswered && namelessSince <= now - PATIENCE_WITH_NONE;
        return waited >= PATIENCE && refusedSince <= now - LEAST_REFUSED
                || waited >= PATIENCE_WITH_NONE && neverThere;
    }

    /** Whether a webhook that the cluster's policy refuses now need not be kept for another attempt. */
    boolean isForbiddenForGood(QueuedWebhook pending, long now) {
        return now - Math.max(pending.stored, pending.next) >= FORBIDDEN.toMillis()
                && forbiddenSince <= now - FORBIDDEN.toMillis();
    }

    boolean isHeldBack(long now) {
        return paused || now < gate;
    }

    /** What comes next in the line. */
    @Nullable
    QueuedWebhook follower() {
        return line.isEmpty() ? null : line.firstEntry().getValue();
    }

    /** It is not under way any more, and is not needed here. */
    void leave(boolean wasAside) {
        if (wasAside) {
            asideFlying--;
        } else {
            lineFlying--;
        }
    }

    /** It is not under way any more, and waits for its time where it says. */
    void putBack(QueuedWebhook pending, boolean wasAside) {
        leave(wasAside);
        if (!pending.aside) {
            line.put(pending.seq, pending);
            lastSeq = Math.max(lastSeq, pending.seq);
        } else {
            standAside(pending);
        }
    }

    private void standAside(QueuedWebhook pending) {
        missedAside |= loadingAside;
        if (moreAside && (aside.isEmpty() || pending.next >= aside.last().next)) {
            pending.drop();
            return;
        }
        aside.add(pending);
        if (aside.size() > WINDOW) {
            moreAside = true;
            QueuedWebhook last = aside.pollLast();
            if (last != null) {
                last.drop();
            }
        }
    }

    /** Nothing is tried before. */
    void gate(long until) {
        gate = until;
    }

    /** What is not under way and was deleted. */
    @Nullable
    QueuedWebhook remove(long seq) {
        QueuedWebhook gone = line.remove(seq);
        if (gone != null) {
            return gone;
        }
        for (QueuedWebhook pending : aside) {
            if (pending.seq == seq) {
                aside.remove(pending);
                return pending;
            }
        }
        return null;
    }

    /** When there may be something to send; {@link Long#MAX_VALUE}: nobody knows. */
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

    /** Whether it can be forgotten. */
    boolean isIdle() {
        return line.isEmpty() && aside.isEmpty() && lineFlying + asideFlying == 0 && !moreInLine && !moreAside
                && !loadingLine && !loadingAside && !paused;
    }

    /** Lets go of all that is not under way. */
    void dropAll() {
        acceptAll();
        line.clear();
        aside.clear();
    }

    /** Nobody waits for an answer any more, and nothing need stay in memory. */
    void acceptAll() {
        line.values().forEach(SourceQueue::letGo);
        aside.forEach(SourceQueue::letGo);
    }

    private static void letGo(QueuedWebhook pending) {
        pending.accept();
        pending.drop();
    }
}
