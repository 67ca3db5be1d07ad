package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the bytes that one side of an exchange has not consumed: a caller of its response, or an upstream of
 * a request's body.
 *
 * <p>A caller is a reader, and its lag is the time for which bytes have waited for it: it is marked with the
 * bytes that wait, and anew when it has consumed these. So its lag hardly depends on a rate: a reader that
 * consumes 1 KiB a second while 256 KiB wait lags by minutes. {@link SlowReaders} decides who gives way.
 *
 * <p>An upstream is cut while memory is short, if it consumes less than {@link #MIN_BYTES} within {@link
 * #PATIENCE}, which is 1 KiB a second.
 *
 * <p>Belongs to the connection's event loop, except what says otherwise.
 */
public final class Lag {
    /** The time for which an upstream may consume next to nothing, or a reader leave bytes. */
    static final Duration PATIENCE = Duration.ofSeconds(5);
    /** The minimum bytes that an upstream must consume in that time. */
    static final int MIN_BYTES = 5 << 10;
    /** The waiting bytes below which a side matters only while its runtime's share is over half full. */
    private static final int LAGGING = 32 << 10;
    /** The time between two marks, at least: they take a lock. */
    private static final long MARK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final EventLoop loop;
    private final Runnable look;
    private final Runnable cut;
    /** The account of the reader; null: the side is an upstream. */
    private final @Nullable BudgetedBytes reader;
    private @Nullable MemoryShare lagsAt;
    private int taken;
    private volatile int waiting;
    private volatile long sinceNanos;
    /** The bytes that waited at the mark and have not been consumed. */
    private int marked;
    private volatile long markedNanos;
    /** The waiting bytes when the reader was chosen to give way; 0: it was not. Guarded by its readers. */
    int leaving;

    /**
     * Creates the lag of an upstream, without waiting bytes. Both callbacks run on the loop.
     *
     * @param look reports the bytes consumed meanwhile
     * @param cut ends the exchange
     */
    public Lag(EventLoop loop, Runnable look, Runnable cut) {
        this(loop, look, cut, null);
    }

    private Lag(EventLoop loop, Runnable look, Runnable cut, @Nullable BudgetedBytes reader) {
        this.loop = loop;
        this.look = look;
        this.cut = cut;
        this.reader = reader;
    }

    /** As the constructor, for a caller that reads a response which {@code held} counts. */
    public static Lag ofReader(EventLoop loop, Runnable look, Runnable cut, BudgetedBytes held) {
        return new Lag(loop, look, cut, held);
    }

    /** Adds waiting bytes, which count for {@code share}. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public // written on the event loop alone
    void waits(int bytes, MemoryShare share) {
        boolean first = waiting == 0;
        if (first) {
            sinceNanos = System.nanoTime();
            taken = 0;
            marked = bytes;
            markedNanos = sinceNanos;
        }
        waiting += bytes;
        if (lagsAt == null) {
            if (waiting >= LAGGING || reader != null && share.aboveHalf() > 0) {
                lagsAt = share;
                share.lags(this);
            }
        } else if (first) {
            lagsAt.marked(this);
        }
    }

    /** Subtracts consumed bytes. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public // as above
    void taken(int bytes) {
        waiting = Math.max(0, waiting - bytes);
        taken += bytes;
        marked -= bytes;
        if (taken >= MIN_BYTES) {
            taken = 0;
            sinceNanos = System.nanoTime();
        }
        if (marked <= 0 && waiting > 0) {
            markAnew();
        }
    }

    private void markAnew() {
        long now = System.nanoTime();
        if (now - markedNanos >= MARK_NANOS) {
            marked = waiting;
            markedNanos = now;
            if (lagsAt != null) {
                lagsAt.marked(this);
            }
        }
    }

    public boolean isRegistered() {
        return lagsAt != null;
    }

    /** Whether no bytes wait. */
    public boolean isNone() {
        return waiting == 0;
    }

    /** The number of waiting bytes. Any thread. */
    int waiting() {
        return waiting;
    }

    /** The source address of the reader; null: the side is an upstream. */
    @Nullable
    SourceAddress source() {
        return reader == null ? null : reader.source();
    }

    /** Returns the time for which bytes have waited for the reader, in nanoseconds. Any thread. */
    long lagNanos(long now) {
        return waiting == 0 ? 0 : now - markedNanos;
    }

    /** Returns the time for which the side has consumed less than the minimum, in nanoseconds. Any thread. */
    long slowNanos(long now) {
        return waiting == 0 ? 0 : now - sinceNanos;
    }

    /** Whether the side has consumed less than the minimum for too long. Any thread. */
    boolean isSlow(long now) {
        return slowNanos(now) >= PATIENCE.toNanos();
    }

    /** Cuts the side, unless it has consumed enough meanwhile. Any thread. */
    void cutIfSlow(long now) {
        onLoop(() -> {
            look.run();
            if (isSlow(now)) {
                cut.run();
            }
        });
    }

    /** Cuts the reader, unless it has consumed everything meanwhile. Any thread. */
    void giveWay(long now) {
        onLoop(() -> {
            look.run();
            MemoryShare share = lagsAt;
            if (share != null && waiting > 0) {
                share.gaveWay(this, now);
                cut.run();
            } else if (share != null) {
                share.readers().stays(this);
            }
        });
    }

    private void onLoop(Runnable unlessClosed) {
        try {
            loop.execute(() -> {
                if (lagsAt != null) {
                    unlessClosed.run();
                }
            });
        } catch (RejectedExecutionException e) {
            // the loop has ended, and the exchange with it
        }
    }

    /** Stops tracking: no bytes wait any more. */
    public void close() {
        waiting = 0;
        MemoryShare share = lagsAt;
        if (share != null) {
            lagsAt = null;
            share.lagsNoLonger(this);
        }
    }
}
