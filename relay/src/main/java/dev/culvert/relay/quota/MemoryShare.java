package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The share of the {@link MemoryBudget} that one runtime holds: at most half of the bytes at which the budget
 * is spent, so that a runtime with a stalled upstream leaves room for the others. The share is full from its
 * maximum until it has fallen to three quarters of that. While it is full, sources that hold next to nothing
 * may use a reserve of one part in sixteen. Safe for use by any thread.
 */
public final class MemoryShare {
    private final MemoryBudget budget;
    private final long max;
    /** The usage from which no source may use the reserve. */
    private final long gone;
    private final AtomicLong used = new AtomicLong();
    private volatile boolean full;

    MemoryShare(MemoryBudget budget) {
        this.budget = budget;
        this.max = budget.high() / 2;
        this.gone = max + max / 16;
    }

    MemoryBudget budget() {
        return budget;
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

    /** Whether the share is full. */
    boolean isFull() {
        return full;
    }

    /** Returns the bytes that it holds above half of its maximum. */
    long aboveHalf() {
        return used.get() - max / 2;
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
        return full && (used.get() >= gone || budget.isHeavy(source)) || budget.isSpentFor(source);
    }
}
