package dev.culvert.inbox.intake;

import java.util.concurrent.TimeUnit;

/**
 * How long a webhook may take to arrive: 60 s, and a second more for each 64 KiB that arrived, 10 min in all. So a silence of less
 * than 60 s ends no webhook, while progress prolongs the time by what it brings and not without end: a body of 25 MiB may take
 * 460 s. While memory for arriving webhooks is short it is 10 s instead of 60. Needs no clock: it says how long the next timer
 * runs. Of one loop.
 */
public final class IntakeTimeout {
    /** What a silent body is allowed, as the edge allows every body. */
    static final long SILENCE = TimeUnit.SECONDS.toNanos(60);
    /** What it is allowed while others need the memory; also how often this is looked at. */
    public static final long SHORT = TimeUnit.SECONDS.toNanos(10);
    /** Bytes that earn a second. */
    static final int RATE = 64 << 10;
    static final long MOST = TimeUnit.MINUTES.toNanos(10);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long waited = SHORT;
    /** While this side was slow to write. */
    private long own;

    /**
     * Called when the time is over that was waited so far, {@link #SHORT} at first.
     *
     * @param arrived bytes of the body
     * @param writing whether bytes wait for this side's disk: the sender is not to blame
     * @param crowded whether memory for arriving webhooks is short
     * @return nanoseconds until the next call; 0: it is too late
     */
    public long more(long arrived, boolean writing, boolean crowded) {
        long earned = arrived / RATE * SECOND + (crowded ? SHORT : SILENCE);
        if (writing && earned + own <= waited) {
            own += SECOND;
        }
        long left = Math.min(MOST, earned + own) - waited;
        long more = Math.clamp(left, 0, SHORT);
        waited += more;
        return more;
    }
}
