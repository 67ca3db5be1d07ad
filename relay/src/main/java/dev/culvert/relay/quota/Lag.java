package dev.culvert.relay.quota;

import io.netty.channel.EventLoop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the bytes that one side of an exchange has not consumed: a caller of its response, or an upstream of
 * a request's body. While memory is short the slowest sides are cut. A side that trickles is also slow: it
 * must consume {@link #LEAST_BYTES} within each {@link #PATIENCE}, which is 1 KiB a second. Belongs to the
 * connection's event loop, except {@link #slowNanos} and {@link #waiting}, which any thread may call.
 */
public final class Lag {
    /** The maximum time for which a side may consume next to nothing while the memory budget is spent. */
    static final Duration PATIENCE = Duration.ofSeconds(5);
    /** The minimum bytes that it must consume in that time. */
    static final int LEAST_BYTES = 5 << 10;
    /** The waiting bytes below which a side is not cut: it holds no more than a socket's buffer. */
    private static final int LAGGING = 32 << 10;

    private final EventLoop loop;
    private final Runnable look;
    private final Runnable cut;
    private @Nullable MemoryShare lagsAt;
    private int taken;
    private volatile int waiting;
    private volatile long sinceNanos;

    /**
     * Creates a lag without waiting bytes. Both callbacks run on the loop.
     *
     * @param look reports the bytes consumed meanwhile
     * @param cut ends the exchange
     */
    public Lag(EventLoop loop, Runnable look, Runnable cut) {
        this.loop = loop;
        this.look = look;
        this.cut = cut;
    }

    /** Adds waiting bytes, which count for {@code share}. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public // written on the event loop alone
    void waits(int bytes, MemoryShare share) {
        if (waiting == 0) {
            sinceNanos = System.nanoTime();
            taken = 0;
        }
        waiting += bytes;
        if (lagsAt == null && waiting >= LAGGING) {
            lagsAt = share;
            share.budget().lags(this, share);
        }
    }

    /** Subtracts consumed bytes. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public // as above
    void taken(int bytes) {
        waiting = Math.max(0, waiting - bytes);
        taken += bytes;
        if (taken >= LEAST_BYTES) {
            taken = 0;
            sinceNanos = System.nanoTime();
        }
    }

    public boolean isRegistered() {
        return lagsAt != null;
    }

    /** Whether no bytes wait. */
    public boolean isNone() {
        return waiting == 0;
    }

    /** The number of waiting bytes. */
    int waiting() {
        return waiting;
    }

    /** Returns the time for which the side has consumed less than the minimum, in nanoseconds. */
    long slowNanos(long now) {
        return waiting == 0 ? 0 : now - sinceNanos;
    }

    /** Whether the side has consumed less than the minimum for too long. */
    boolean isSlow(long now) {
        return slowNanos(now) >= PATIENCE.toNanos();
    }

    /** Cuts the side, unless it has consumed enough meanwhile. */
    void cutIfSlow(long now) {
        loop.execute(() -> {
            if (lagsAt != null) {
                look.run();
                if (isSlow(now)) {
                    cut.run();
                }
            }
        });
    }

    /** Stops tracking: no bytes wait any more. */
    public void close() {
        waiting = 0;
        MemoryShare share = lagsAt;
        if (share != null) {
            lagsAt = null;
            share.budget().lagsNoLonger(this);
        }
    }
}
