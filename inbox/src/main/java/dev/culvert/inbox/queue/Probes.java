package dev.culvert.inbox.queue;

import dev.culvert.inbox.model.QueuedWebhook;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whether the first webhook of a line fails, or its event source: sends one from behind it as a probe. If that is
 * answered for good, the first one is poison and steps aside. If it fails, too, the source is taken for down: the line keeps its
 * order, and a further probe follows after a growing pause. Pure state of one {@link SourceQueue}.
 *
 * <pre>
 *  first fails ──► probe ──passes──► first steps aside; the next that fails is probed at once, for a while
 *                    └─fails──► pause ──► probe ──passes──► the source is back: what failed is tried again, in order
 * </pre>
 */
final class Probes {
    /** Failures of the first one before a probe overtakes it: a short hiccup must not break the order. */
    private static final int FAILURES = 2;
    /** How long after a poisoned one the next failure is probed at once. */
    private static final long WARY = Duration.ofMinutes(10).toMillis();
    /** After the first probe that failed; doubled for each further one, so that a source that is down gets little. */
    private static final long PAUSE = 1000;
    private static final long LONGEST_PAUSE = 60_000;
    private static final long NEVER = Long.MAX_VALUE;

    /** Probes in a row that failed, since something passed. */
    private int failed;
    private long notBefore;
    private long waryUntil;
    private int failures = FAILURES;

    /** The source answered a webhook of the line with failure, or not in time. */
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
     * What is out of order once {@code probe} is answered for good: the first one, which then steps aside. When others failed,
     * too, it is the probe alone: their source is back, and they go on in order.
     *
     * @param overtaken those of the line before the probe
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
     * A webhook of the line was answered for good.
     *
     * @param line what is in line
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

    /** The webhook that is sent now, before the first one of {@code line}, which is not due; null: none. */
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
