package dev.culvert.relay.quota;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The pace of one runtime's bytes in one direction, over all its streams and event loops: hands out moments, each as much
 * later than the one before as its bytes take. A stream asks for its next piece only when the last one has left, so streams
 * take turns. Lock-free.
 */
public final class BytePace {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /** What may leave at once after a pause: shorter than anybody notices, longer than a timer's tick. */
    private static final long SLACK = TimeUnit.MILLISECONDS.toNanos(50);

    /** When what was handed out so far will have left. */
    private final AtomicLong until;

    public BytePace(long nowNanos) {
        until = new AtomicLong(nowNanos - SLACK);
    }

    /**
     * Hands out the moment for a piece.
     *
     * @return how many nanoseconds it must wait; 0 or less: it may leave now
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
