package dev.culvert.inbox.intake;

import java.util.concurrent.TimeUnit;

/**
 * The time-out of a webhook's arrival: 60 s, and a second more for each 64 KiB that arrived, 10 min at most.
 * A silence of less than 60 s ends no webhook, and progress extends the time in proportion but not without
 * end: a body of 25 MiB may take 460 s. While memory for arriving webhooks is short, it is 10 s instead of
 * 60. Needs no clock: it returns the length of the next timer. Belongs to one event loop.
 */
final class IntakeTimeout {
    /** The time that a silent body has, the same as for every body at the edge. */
    static final long SILENCE = TimeUnit.SECONDS.toNanos(60);
    /** The time that it has while others need the memory; also the interval of checks. */
    static final long SHORT = TimeUnit.SECONDS.toNanos(10);
    /** The number of bytes that add a second. */
    static final int RATE = 64 << 10;
    static final long MAX = TimeUnit.MINUTES.toNanos(10);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long waited = SHORT;
    /** The time added while this side was slow to write. */
    private long own;

    /**
     * Called when the previous timer fires, after {@link #SHORT} at first.
     *
     * @param arrived the received bytes of the body
     * @param writing whether bytes wait for this side's disk, which is not the sender's fault
     * @param crowded whether memory for arriving webhooks is short
     * @return the nanoseconds until the next call; 0: the time is up
     */
    long more(long arrived, boolean writing, boolean crowded) {
        long earned = arrived / RATE * SECOND + (crowded ? SHORT : SILENCE);
        if (writing && earned + own <= waited) {
            own += SECOND;
        }
        long left = Math.min(MAX, earned + own) - waited;
        long more = Math.clamp(left, 0, SHORT);
        waited += more;
        return more;
    }
}
