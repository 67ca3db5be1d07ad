package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Determines whether the first webhook of a queue fails, or its event source. It sends a later webhook as a
 * probe. If the probe gets a final response, the first webhook is poison and steps aside. If the probe fails,
 * too, the source counts as down: the queue keeps its order, and further probes follow after growing pauses.
 * Pure state of one {@link SourceQueue}.
 *
 * <pre>
 *  first fails ──► probe ──passes──► first steps aside; the next that fails is probed at once, for a while
 *                    └─fails──► pause ──► probe ──passes──► the source is back: what failed is tried again, in order
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
    /**
     * The pause after the first failed probe. It doubles with each further one, so that a source that is down
     * gets few attempts.
     */
    private static final long PAUSE = 1000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final long NEVER = Long.MAX_VALUE;

    /** The number of consecutive failed probes since a webhook passed. */
    private int failed;
    private long notBefore;
    private long waryUntil;
    private int failures = FAILURES;

    /** A webhook of the queue failed or timed out at the source. */
    void failed(QueuedWebhook pending, long now, @Nullable Duration asked) {
        failures = now < waryUntil ? 1 : FAILURES;
        if (pending.probing) {
            failed++;
            notBefore = now + Math.min(PAUSE << Math.min(failed - 1, 16), LONGEST_PAUSE);
        }
        if (asked != null) {
            notBefore = Math.max(notBefore, now + RetrySchedule.waiting(asked));
        }
    }

    /**
     * Returns the webhooks that leave the order once {@code probe} has its final response: the first one,
     * which then steps aside. If earlier probes failed, only the probe leaves it: the source is back, and the
     * others continue in order.
     *
     * @param overtaken the webhooks before the probe in the queue
     */
    List<QueuedWebhook> outOfOrder(QueuedWebhook probe, Collection<QueuedWebhook> overtaken) {
        if (overtaken.isEmpty()) {
            return List.of();
        }
        QueuedWebhook first = overtaken.iterator().next();
        if (failed > 0 || first.failures == 0) {
            return List.of(probe);
        }
        return overtaken.size() == 1 ? List.of(first) : List.of(first, probe);
    }

    /**
     * A webhook of the queue has its final response.
     *
     * @param line the webhooks in the queue
     */
    void passed(QueuedWebhook pending, long now, Collection<QueuedWebhook> line) {
        if (pending.probing) {
            waryUntil = now + WARY;
            failures = 1;
        }
        if (failed > 0) {
            line.forEach(waiting -> waiting.early = waiting.failures > 0);
        }
        failed = 0;
        notBefore = now;
    }

    /**
     * Returns the probe to send now, before the first webhook of {@code line}, which is not due; null: none.
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
            } else if (waiting.isDue(now) && (best == null || waiting.failures < best.failures)) {
                best = waiting;
            }
        }
        return best;
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
