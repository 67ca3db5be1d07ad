package dev.culvert.relay.quota;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A token bucket that all event loops share without a lock: its whole state is the moment at which it will be full, moved by
 * compare-and-set. One for all loops, as shares per loop would refuse a caller whose requests happen to land on one of them.
 *
 * <p>Exact under contention: in any span of time no more tokens are taken than the burst plus the rate times the span. A
 * thread that was paused between reading the clock and asking may be refused what it would have got a moment later.
 */
final class TokenBucket {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final int perSecond;
    private final int burst;
    private final long interval;
    private final long capacity;
    private final AtomicLong fullAt;

    /**
     * A full one.
     *
     * @param perSecond tokens that come each second, 1 or more
     * @param burst tokens of a full bucket, 1 or more
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
     * @return the tokens left; below 0 none was taken, and the next one comes in as many nanoseconds
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

    /** Nanoseconds until it is full, if nothing is taken. */
    long nanosToFull(long nowNanos) {
        return Math.max(0, fullAt.get() - nowNanos);
    }
}
