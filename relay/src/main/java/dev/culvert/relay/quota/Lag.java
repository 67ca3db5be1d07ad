package dev.culvert.relay.quota;

import io.netty.channel.EventLoop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How far one side of an exchange lags behind with what it is to take: a caller with its response, an upstream with a
 * request's body. Where memory is short the slowest are cut, and slow is also a side that trickles: it must take {@link
 * #LEAST_BYTES} within each {@link #PATIENCE}, which is 1 KiB a second. On the connection's event loop, but for {@link
 * #slowNanos} and {@link #waiting}, which any thread may ask.
 */
public final class Lag {
    /** How long a side may take next to nothing while the memory budget is spent. */
    static final Duration PATIENCE = Duration.ofSeconds(5);
    /** What it must take meanwhile. */
    static final int LEAST_BYTES = 5 << 10;
    /** A side for which less waits holds no more than a socket's buffer, and is not cut. */
    private static final int LAGGING = 32 << 10;

    private final EventLoop loop;
    private final Runnable look;
    private final Runnable cut;
    private @Nullable MemoryShare lagsAt;
    private int taken;
    private volatile int waiting;
    private volatile long sinceNanos;

    /**
     * Both run on the loop.
     *
     * @param look reports what was taken meanwhile
     * @param cut ends the exchange
     */
    public Lag(EventLoop loop, Runnable look, Runnable cut) {
        this.loop = loop;
        this.look = look;
        this.cut = cut;
    }

    /** So many bytes more wait, which count for {@code share}. */
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

    /** So many of them were taken. */
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

    /** Whether nothing waits. */
    public boolean isNone() {
        return waiting == 0;
    }

    /** The bytes that wait. */
    int waiting() {
        return waiting;
    }

    /** Since when it has taken less than it must. */
    long slowNanos(long now) {
        return waiting == 0 ? 0 : now - sinceNanos;
    }

    /** Whether it has taken less than it must for too long. */
    boolean isSlow(long now) {
        return slowNanos(now) >= PATIENCE.toNanos();
    }

    /** Cuts it, unless it has taken enough meanwhile. */
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

    /** Nothing waits any more. */
    public void close() {
        waiting = 0;
        MemoryShare share = lagsAt;
        if (share != null) {
            lagsAt = null;
            share.budget().lagsNoLonger(this);
        }
    }
}
