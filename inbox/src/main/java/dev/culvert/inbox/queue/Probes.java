package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether the first webhook of a queue fails, or its event source. It sends later webhooks as
 * probes. If a probe gets a final response right after the first webhook failed, the first webhook is poison
 * and steps aside. If probes fail, too, a row of them follows without a pause; after that the source counts
 * as down, and further probes follow after growing pauses. When a probe passes after others failed, the
 * source may have been down: the failed webhooks are tried again at once, in order, and a webhook that fails
 * again is poison if another one passes with no pause in between. No webhook steps aside unless another one
 * passes after it. Pure state of one {@link SourceQueue}.
 *
 * <pre>
 *  first fails ──► probe ──passes──► first steps aside; the next that fails is probed at once, for a while
 *                  │  ▲ └─passes after others failed──► what failed is tried again, in order:
 *                  │  │                                   fails ──► probe ──passes──► steps aside
 *                  fails, several times in a row; then a pause
 * </pre>
 */
final class Probes {
    /**
     * The number of failures of the first webhook before a probe overtakes it: a short outage must not break
     * the order.
     */
    private static final int FAILURES = 2;
    /** The time after a poisoned webhook for which the next failure is probed at once. */
    private static final long WARY = Duration.ofMinutes(10).toMillis();
    /** The number of probes that may fail in a row without a pause. */
    private static final int IN_A_ROW = 6;
    /**
     * The maximum of that number, for a source that gave a final response after as long a row of failures.
     */
    static final int MAX_IN_A_ROW = 2 * SourceQueue.WINDOW;
    /**
     * The number of failed probes after which one probe follows each pause: a source that is down gets few
     * attempts.
     */
    private static final int SEARCHED = 6 * IN_A_ROW;
    /**
     * The next row of failures may be longer by chance, and each webhook fails twice before it steps aside.
     */
    private static final int LONGER = 4;
    /** The pause after a row of failed probes. It doubles each time. */
    private static final long PAUSE = 1000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final long NEVER = Long.MAX_VALUE;

    /** The number of consecutive failed probes since a webhook passed. */
    private int failed;
    /**
     * The number of pauses since a webhook passed. With one, the source may have been down, and webhooks may
     * have failed for that reason.
     */
    private int pauses;
    private int mostInARow = IN_A_ROW;
    private long notBefore;
    private long waryUntil;
    private int failures = FAILURES;

    /** A webhook of the queue failed or timed out at the source. */
    void failed(QueuedWebhook webhook, long now, @Nullable Duration asked) {
        boolean wary = now < waryUntil;
        failures = wary ? 1 : FAILURES;
        mostInARow = wary ? mostInARow : IN_A_ROW;
        webhook.suspect = true;
        webhook.suspectAgain |= webhook.early;
        if (webhook.probing && ++failed >= mostInARow
                && (failed % IN_A_ROW == 0 || failed > Math.max(mostInARow, SEARCHED))) {
            notBefore = now + Math.min(PAUSE << Math.min(pauses, 16), LONGEST_PAUSE);
            pauses++;
        }
        if (asked != null) {
            notBefore = Math.max(notBefore, now + RetrySchedule.waiting(asked));
            pauses++;
        }
    }

    /** The clock was set back to {@code now}. */
    void setBack(long now) {
        notBefore = Math.min(notBefore, now);
        waryUntil = Math.min(waryUntil, now + WARY);
    }

    /**
     * Returns the webhooks that leave the order once {@code probe} has its final response: the poison, which
     * then steps aside, and the probe, if it overtakes others.
     *
     * @param overtaken the webhooks before the probe in the queue
     */
    List<QueuedWebhook> outOfOrder(QueuedWebhook probe, Collection<QueuedWebhook> overtaken) {
        List<QueuedWebhook> out = new ArrayList<>();
        for (QueuedWebhook waiting : overtaken) {
            if (isPoison(waiting)) {
                out.add(waiting);
            }
        }
        if (out.size() < overtaken.size()) {
            out.add(probe);
        }
        return out;
    }

    /** Whether it fails although its source is alive, given that another webhook passes now. */
    private boolean isPoison(QueuedWebhook waiting) {
        return pauses == 0 && waiting.suspect && (failed == 0 || waiting.suspectAgain);
    }

    /**
     * A webhook of the queue has its final response.
     *
     * @param line the webhooks that stay in the queue
     */
    void passed(QueuedWebhook webhook, long now, Collection<QueuedWebhook> line) {
        if (webhook.probing) {
            waryUntil = now + WARY;
            failures = 1;
            mostInARow = Math.max(mostInARow, Math.min(LONGER * failed, MAX_IN_A_ROW));
        }
        for (QueuedWebhook waiting : line) {
            waiting.early |= waiting.failures > 0;
            waiting.suspect = false;
            waiting.suspectAgain = false;
        }
        failed = 0;
        pauses = 0;
        notBefore = now;
    }

    /**
     * Returns the probe to send now, before the first webhook of {@code line}, which is not due; null: none.
     * Early retries come before new webhooks, and these before failed ones.
     */
    @Nullable
    QueuedWebhook next(Collection<QueuedWebhook> line, long now) {
        if (at(line) > now) {
            return null;
        }
        QueuedWebhook best = null;
        QueuedWebhook first = null;
        for (QueuedWebhook waiting : line) {
            if (first == null) {
                first = waiting;
            } else if (waiting.isDue(now) && (best == null || rank(waiting) < rank(best))) {
                best = waiting;
            }
        }
        return best;
    }

    private static int rank(QueuedWebhook waiting) {
        return waiting.early ? -1 : waiting.failures;
    }

    /**
     * Returns the time at which {@link #next} returns a probe; {@link Long#MAX_VALUE}: not before an event
     * occurs.
     */
    long at(Collection<QueuedWebhook> line) {
        QueuedWebhook first = null;
        long due = NEVER;
        for (QueuedWebhook waiting : line) {
            if (first == null) {
                first = waiting;
                if (first.failures < failures) {
                    return NEVER;
                }
            } else {
                due = Math.min(due, waiting.dueAt());
            }
        }
        return due == NEVER ? NEVER : Math.max(due, notBefore);
    }
}
