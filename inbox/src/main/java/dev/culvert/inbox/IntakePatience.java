package dev.culvert.inbox;

import java.util.concurrent.TimeUnit;

/**
 * How long a webhook may take to arrive: 10 s, and a second more for each 64 KiB that arrived, 10 min in all. So progress
 * prolongs it by what it brings and not without end, and a body of 25 MiB may take 410 s. Needs no clock: it says how long the
 * next timer runs. Of one loop.
 */
final class IntakePatience {
    static final long FIRST = TimeUnit.SECONDS.toNanos(10);
    /** Bytes that earn a second. */
    static final int RATE = 64 << 10;
    static final long MOST = TimeUnit.MINUTES.toNanos(10);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private long granted = FIRST;
    /** While this side was slow to write. */
    private long own;

    /**
     * Called when the time granted so far is over.
     *
     * @param arrived bytes of the body
     * @param writing whether bytes wait for this side's disk: the sender is not to blame
     * @return nanoseconds to wait on; 0: it is too late
     */
    long more(long arrived, boolean writing) {
        if (writing) {
            own += SECOND;
        }
        long allowed = Math.min(MOST, FIRST + arrived / RATE * SECOND + own);
        long more = Math.max(0, allowed - granted);
        granted += more;
        return more;
    }
}
