package dev.culvert.relay.quota;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Paces the bytes of one runtime in one direction, over all its streams and event loops. It assigns a time to
 * each piece; the time between pieces is that of the bytes at the limited rate. A stream requests the next
 * time only after its previous piece was sent, so streams take turns. Lock-free.
 */
public final class BytePace {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /** The burst after a pause, as a time: too short to matter to users, longer than a timer's tick. */
    private static final long SLACK = TimeUnit.MILLISECONDS.toNanos(50);

    /** The time at which all assigned pieces will have been sent. */
    private final AtomicLong until;

    public BytePace(long nowNanos) {
        until = new AtomicLong(nowNanos - SLACK);
    }

    /**
     * Assigns a time to a piece.
     *
     * @return the nanoseconds that the piece must wait; 0 or less: it may be sent now
     */
    long next(int bytes, long bytesPerSecond, long nowNanos) {
        long takes = (long) ((double) bytes * SECOND / bytesPerSecond);
        while (true) {
            long before = until.get();
            long start = before - (nowNanos - SLACK) > 0 ? before : nowNanos - SLACK;
            if (until.compareAndSet(before, start + takes)) {
                return start + takes - nowNanos;
            }
        }
    }
}
