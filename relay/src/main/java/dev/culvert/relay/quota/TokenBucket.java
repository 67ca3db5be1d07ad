package dev.culvert.relay.quota;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A token bucket that all event loops share without a lock. Its whole state is the time at which it will be
 * full, changed by compare-and-set. All loops share one bucket: with one per loop, a caller whose requests
 * happen to arrive on one loop would be refused.
 *
 * <p>Exact under contention: in any period no more tokens are taken than the burst plus the rate times the
 * period. A thread that was paused between reading the clock and taking a token may be refused although a
 * token is available.
 */
final class TokenBucket {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final int perSecond;
    private final int burst;
    private final long interval;
    private final long capacity;
    private final AtomicLong fullAt;

    /**
     * Creates a full bucket.
     *
     * @param perSecond the tokens added each second, 1 or more
     * @param burst the tokens of a full bucket, 1 or more
     */
    TokenBucket(int perSecond, int burst, long nowNanos) {
        this.perSecond = perSecond;
        this.burst = burst;
        this.interval = SECOND / perSecond;
        this.capacity = interval * burst;
        this.fullAt = new AtomicLong(nowNanos);
    }

    boolean isOf(int rate, int tokens) {
        return perSecond == rate && burst == tokens;
    }

    /**
     * Takes a token.
     *
     * @return the number of tokens left; if below 0 no token was taken, and the next one is available after
     *     as many nanoseconds
     */
    long take(long nowNanos) {
        while (true) {
            long before = fullAt.get();
            long missing = Math.max(0, before - nowNanos) + interval;
            if (missing > capacity) {
                return capacity - missing;
            }
            if (fullAt.compareAndSet(before, nowNanos + missing)) {
                return (capacity - missing) / interval;
            }
        }
    }

    /** Returns the nanoseconds until the bucket is full, if no token is taken. */
    long nanosToFull(long nowNanos) {
        return Math.max(0, fullAt.get() - nowNanos);
    }
}
