package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the first webhook of a line fails, or its event source: sends those from behind it as probes. If one is
 * answered for good right after the first one failed, that one is poison and steps aside. If probes fail, too, some are sent one
 * after the other; beyond that the source is taken for down, and a further one follows after a growing pause. When one passes
 * after others failed, the source may have been down: what failed is tried again at once, in order, and is poison if it fails
 * and another passes without a pause between. Nothing steps aside unless another passes after it. Pure state of one
 * {@link SourceQueue}.
 *
 * <pre>
 *  first fails ──► probe ──passes──► first steps aside; the next that fails is probed at once, for a while
 *                  │  ▲ └─passes after others failed──► what failed is tried again, in order:
 *                  │  │                                   fails ──► probe ──passes──► steps aside
 *                  fails, some times in a row; then pause
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
    /** Probes that may fail in a row without a pause between. */
    private static final int IN_A_ROW = 6;
    /** The same, at most, of a source that has answered another one for good after as long a row of failures. */
    static final int MOST_IN_A_ROW = 2 * SourceQueue.WINDOW;
    /** Probes after which only one is sent between two pauses: a source that is down gets little. */
    private static final int SEARCHED = 6 * IN_A_ROW;
    /** Rows of failures are interrupted by chance: the next one may be longer, and each fails twice before it steps aside. */
    private static final int LONGER = 4;
    /** After the last probe of a row that failed; doubled each time. */
    private static final long PAUSE = 1000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final long NEVER = Long.MAX_VALUE;

    /** The number of consecutive failed probes since a webhook passed. */
    private int failed;
    /**
     * Times that nothing was sent for a while, since something passed: the source may have been down, and what failed may have
     * failed for that.
     */
    private int pauses;
    private int mostInARow = IN_A_ROW;
    private long notBefore;
    private long waryUntil;
    private int failures = FAILURES;

    /** A webhook of the queue failed or timed out at the source. */
    void failed(QueuedWebhook pending, long now, @Nullable Duration asked) {
        boolean wary = now < waryUntil;
        failures = wary ? 1 : FAILURES;
        mostInARow = wary ? mostInARow : IN_A_ROW;
        pending.suspect = true;
        pending.suspectAgain |= pending.early;
        if (pending.probing && ++failed >= mostInARow
                && (failed % IN_A_ROW == 0 || failed > Math.max(mostInARow, SEARCHED))) {
            notBefore = now + Math.min(PAUSE << Math.min(pauses, 16), LONGEST_PAUSE);
            pauses++;
        }
        if (asked != null) {
            notBefore = Math.max(notBefore, now + RetrySchedule.waiting(asked));
            pauses++;
        }
    }

    /**
     * What is out of order once {@code probe} is answered for good: those that are poison, which then step aside, and the probe,
     * if it overtakes others, too.
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

    /** Whether it fails although its source is alive, when another one passes now. */
    private boolean isPoison(QueuedWebhook waiting) {
        return pauses == 0 && waiting.suspect && (failed == 0 || waiting.suspectAgain);
    }

    /**
     * A webhook of the queue has its final response.
     *
     * @param line what stays in line
     */
    void passed(QueuedWebhook pending, long now, Collection<QueuedWebhook> line) {
        if (pending.probing) {
            waryUntil = now + WARY;
            failures = 1;
            mostInARow = Math.max(mostInARow, Math.min(LONGER * failed, MOST_IN_A_ROW));
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
     * The webhook that is sent now, before the first one of {@code line}, which is not due; null: none. What is tried again comes
     * before what is new, and that before what failed.
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

    /** When {@link #next} gives one; {@link Long#MAX_VALUE}: not before something happens. */
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
