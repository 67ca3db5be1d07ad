package dev.culvert.inbox.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * When a webhook that was answered with failure is tried again: 0, 5 s, 30 s, 2 min, 10 min, 30 min, 2 h and 5 h after its first
 * attempt, then every 10 h until 7 days. Only attempts that failed count, so time without a tunnel moves the rest back.
 */
public final class RetrySchedule {
    /** Failures after which an entry of an ordered source makes way for those behind it. */
    public static final int STEPS_ASIDE = 5;
    private static final Duration EVERY = Duration.ofHours(10);
    private static final Duration UNTIL = Duration.ofDays(7);
    /** So that an attempt that took longer than the step to the next is not followed at once. */
    private static final Duration LEAST = Duration.ofSeconds(1);
    /** What an event source may ask for: longer, and it would decide when its webhooks die. */
    private static final Duration MOST_ASKED = Duration.ofHours(1);
    private static final List<Duration> STEPS = steps();

    private RetrySchedule() {}

    /** How many attempts there are. */
    static int attempts() {
        return STEPS.size() + 1;
    }

    /**
     * The time of the next attempt; -1: there is none.
     *
     * @param failures attempts that failed, 1 or more
     * @param begun when the last of them began
     * @param asked what its answer asked to wait; null: nothing
     */
    public static long next(int failures, long begun, long now, @Nullable Duration asked) {
        if (failures > STEPS.size()) {
            return -1;
        }
        long next = Math.max(begun + STEPS.get(failures - 1).toMillis(), now + LEAST.toMillis());
        if (asked == null) {
            return next;
        }
        return Math.max(next, now + waiting(asked));
    }

    /** The time of an attempt beyond the schedule, which changes nothing in it: {@code next} stays, if that is to come. */
    public static long unchanged(long next, long now, @Nullable Duration asked) {
        return Math.max(next, now + (asked == null ? LEAST.toMillis() : waiting(asked)));
    }

    /** The milliseconds for which an event source may ask to be left alone. */
    static long waiting(Duration asked) {
        return Math.min(asked.toMillis(), MOST_ASKED.toMillis());
    }

    private static List<Duration> steps() {
        List<Duration> times = new ArrayList<>(
                List.of(Duration.ZERO, Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofMinutes(2),
                        Duration.ofMinutes(10), Duration.ofMinutes(30), Duration.ofHours(2),
                        Duration.ofHours(5)));
        while (times.getLast().plus(EVERY).compareTo(UNTIL) <= 0) {
            times.add(times.getLast().plus(EVERY));
        }
        List<Duration> steps = new ArrayList<>();
        for (int i = 1; i < times.size(); i++) {
            steps.add(times.get(i).minus(times.get(i - 1)));
        }
        return List.copyOf(steps);
    }
}
