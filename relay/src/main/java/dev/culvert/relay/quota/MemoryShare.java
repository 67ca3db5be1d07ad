package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The share of the {@link MemoryBudget} that one runtime holds: at most half of the bytes at which the budget
 * is spent, so that a runtime with a stalled upstream leaves room for the others. Its stages, by usage:
 *
 * <pre>
 *  1/2    readers give way for which bytes have waited too long
 *  3/4    a full share has room again
 *  1      the share is full: requests are refused and exchanges stop reading, except those of light sources.
 *         Readers that have read nothing for a moment give way, if several sources use the share
 *  9/8    readers give way at once, if several sources use the share
 *  3/2    the share is spent for light sources, too, unless readers of other sources give way to them
 * </pre>
 *
 * Bytes come beyond the share because windows granted them before. What is granted is not counted: it is more
 * than there is, hardly ever used, and counting it would refuse nearly everybody. So readers give way when it
 * comes, and what lies beyond 9/8 is for light sources, which hold less than half of an equal share. A source
 * that uses the share alone loses no reader for the bytes that come beyond it. Safe for use by any thread.
 */
public final class MemoryShare {
    /** The bytes below which a source is light in any case: some heads and small bodies. */
    private static final int LIGHT_BYTES = 16 << 10;
    /** The lag from which a reader that gave way was a slow one, and none that others were too many for. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** The time for which a reader of a full share may leave bytes, if others use the share, too. */
    private static final long CHOICE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MOMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    /** The time for which a second source counts as one that uses the share. */
    private static final long USED_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final MemoryBudget budget;
    private final Consumer<SourceAddress> readsSlowly;
    private final long max;
    /** The usage from which readers give way at once. */
    private final long over;
    /** No choice before, because the last one freed too little. */
    private volatile long noChoiceUntil = System.nanoTime();
    /** The usage from which no source may use the reserve. */
    private final long gone;
    private final AtomicLong used = new AtomicLong();
    private final SlowReaders readers = new SlowReaders();
    private volatile boolean full;
    /** The source that began a request last while the share was over half full. */
    private volatile @Nullable SourceAddress last;
    /** When another one did. */
    private volatile long othersNanos = System.nanoTime() - USED_NANOS;

    MemoryShare(MemoryBudget budget) {
        this(budget, source -> {});
    }

    /** @param readsSlowly receives the sources of slow readers that gave way; runs on any thread */
    MemoryShare(MemoryBudget budget, Consumer<SourceAddress> readsSlowly) {
        this.budget = budget;
        this.readsSlowly = readsSlowly;
        this.max = budget.high() / 2;
        this.over = max + max / 8;
        this.gone = max + max / 2;
    }

    MemoryBudget budget() {
        return budget;
    }

    SlowReaders readers() {
        return readers;
    }

    void take(int bytes) {
        if (used.addAndGet(bytes) >= max) {
            full = true;
        }
        budget.take(bytes);
    }

    void give(int bytes) {
        if (used.addAndGet(-bytes) <= max - max / 4 && full) {
            full = false;
        }
        budget.give(bytes);
    }

    /** The number of bytes held now. */
    long used() {
        return used.get();
    }

    /** Whether the share is full. */
    boolean isFull() {
        return full;
    }

    /** Returns the bytes that it holds above half of its maximum. */
    long aboveHalf() {
        return used.get() - max / 2;
    }

    /** A source begins a request. */
    void begins(SourceAddress source) {
        SourceAddress before = last;
        if (!source.equals(before)) {
            last = source;
            if (before != null) {
                othersNanos = System.nanoTime();
            }
        }
    }

    /** Registers a lagging side of an exchange. */
    void lags(Lag side) {
        SourceAddress source = side.source();
        if (source == null) {
            budget.lags(side, this);
        } else {
            readers.add(source, side);
            budget.reads(this);
        }
    }

    void marked(Lag side) {
        SourceAddress source = side.source();
        if (source != null) {
            readers.marked(source, side);
        }
    }

    /** A reader is cut because it was chosen to give way. */
    void gaveWay(Lag side, long now) {
        SourceAddress source = side.source();
        if (source != null && side.lagNanos(now) >= SLOW_NANOS) {
            readsSlowly.accept(source);
        }
    }

    void lagsNoLonger(Lag side) {
        SourceAddress source = side.source();
        if (source == null) {
            budget.lagsNoLonger(side);
        } else {
            readers.remove(source, side);
        }
    }

    /** More bytes have come: if that is more than the share has, and others use it, readers give way. */
    void came() {
        long now = used.get();
        if (now >= max && now - readers.leaving() >= max) {
            long nanos = System.nanoTime();
            if (nanos - othersNanos < USED_NANOS && nanos - noChoiceUntil >= 0
                    && !readers.shed(now - max + max / 4, nanos, now >= over ? 0 : MOMENT_NANOS, null)) {
                noChoiceUntil = nanos + CHOICE_NANOS; // a choice looks at all readers, and has freed too little
            }
        }
    }

    /** Lets readers give way for which bytes have waited too long, until no more than half is held. */
    void shedSlow(long now) {
        shedSlow(aboveHalf(), now);
    }

    /** As above, until this many bytes are leaving. */
    void shedSlow(long excess, long now) {
        if (excess > 0) {
            readers.shed(excess, now, Lag.PATIENCE.toNanos(), null);
        }
    }

    /**
     * Whether no request may begin, and exchanges in progress should stop reading, except those of sources
     * that hold next to nothing.
     */
    public boolean isSpent() {
        return full || budget.isSpent();
    }

    /** Whether no request of one source may begin, and its exchanges in progress should stop reading. */
    boolean isSpentFor(SourceAddress source) {
        return isFullFor(source) || budget.isSpentFor(source);
    }

    /** Whether the share is full, and the source may not use its reserve. */
    boolean isFullFor(SourceAddress source) {
        return full && (staying() >= gone || isHeavy(source));
    }

    /** The bytes held, without those of readers that give way: they are freed in a moment. */
    private long staying() {
        long now = used.get();
        return now < gone ? now : now - readers.leaving();
    }

    /**
     * Makes room for a request of a light source: readers of other sources give way, although they may be the
     * only ones that have used the share so far.
     */
    void makeRoom(SourceAddress source) {
        if (full && !isHeavy(source)) {
            othersNanos = System.nanoTime();
            if (staying() >= gone) {
                readers.shed(used.get() - max + max / 4, othersNanos, 0, source);
            }
        }
        budget.makeRoom(source);
    }

    private boolean isHeavy(SourceAddress source) {
        long equal = max / 2 / Math.max(1, budget.sources().accounts());
        return budget.isHeavy(source)
                || budget.sources().usedBy(source) >= Math.max(LIGHT_BYTES, equal);
    }
}
