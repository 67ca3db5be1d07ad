package dev.culvert.inbox.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The times of attempts for a failing webhook: 0, 5 s, 30 s, 2 min, 10 min, 30 min, 2 h and 5 h after its
 * first attempt, then every 10 h until 7 days. Only failed attempts count, so time without a tunnel delays
 * the rest.
 */
public final class RetrySchedule {
    /** The number of failures after which an entry of an ordered source steps aside for the next ones. */
    public static final int STEPS_ASIDE = 5;
    private static final Duration EVERY = Duration.ofHours(10);
    private static final Duration UNTIL = Duration.ofDays(7);
    /** The minimum time between attempts, for attempts that took longer than the step to the next. */
    private static final Duration MIN = Duration.ofSeconds(1);
    /**
     * The maximum wait that an event source may request. With a longer one, it could decide when its webhooks
     * die.
     */
    private static final Duration MAX_ASKED = Duration.ofHours(1);
    private static final List<Duration> STEPS = steps();
    /** The longest time between two attempts. */
    public static final Duration LONGEST = EVERY;

    private RetrySchedule() {}

    /** The number of attempts. */
    static int attempts() {
        return STEPS.size() + 1;
    }

    /**
     * Returns the time of the next attempt, in milliseconds; -1: there is none.
     *
     * @param failures the number of failed attempts, 1 or more
     * @param begun the start of the last attempt
     * @param asked the wait that its response requested; null: none
     */
    public static long next(int failures, long begun, long now, @Nullable Duration asked) {
        if (failures > STEPS.size()) {
            return -1;
        }
        // The clock may have been set back since the attempt began.
        long next = Math.max(Math.min(begun, now) + STEPS.get(failures - 1).toMillis(),
                now + MIN.toMillis());
        if (asked == null) {
            return next;
        }
        return Math.max(next, now + waiting(asked));
    }

    /**
     * Returns the time of the attempt after an early one, which leaves the schedule unchanged: {@code next}
     * stays if it is in the future.
     */
    public static long unchanged(long next, long now, @Nullable Duration asked) {
        return Math.max(bounded(next, now), now + (asked == null ? MIN.toMillis() : waiting(asked)));
    }

    /** Returns a stored time, or {@code now} if the clock was set back since: no wait is as long. */
    static long bounded(long next, long now) {
        return next > now + LONGEST.toMillis() ? now : next;
    }

    /** Returns the requested wait in milliseconds, within the maximum. */
    static long waiting(Duration asked) {
        return Math.min(asked.toMillis(), MAX_ASKED.toMillis());
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
