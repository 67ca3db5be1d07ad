package dev.culvert.relay.quota;

import dev.culvert.http.quota.SourceAddress;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What one runtime holds of the {@link MemoryBudget}: half of what may be held before that is spent, so that one whose upstream
 * stalls leaves room for the others. Full until it has fallen to three quarters of that. Safe for use by any thread.
 */
public final class MemoryShare {
    private final MemoryBudget budget;
    private final long max;
    private final AtomicLong used = new AtomicLong();
    private volatile boolean full;

    MemoryShare(MemoryBudget budget) {
        this.budget = budget;
        this.max = budget.high() / 2;
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

    /** Whether the runtime itself holds too much. */
    boolean isFull() {
        return full;
    }

    /** What it holds beyond half of what it may. */
    long aboveHalf() {
        return used.get() - max / 2;
    }

    /** Whether nothing more may begin, and what runs should read nothing, but for sources that hold next to nothing. */
    public boolean isSpent() {
        return full || budget.isSpent();
    }

    /** The same for one source. */
    boolean isSpentFor(SourceAddress source) {
        return full || budget.isSpentFor(source);
    }
}
