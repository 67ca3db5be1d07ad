package dev.culvert.relay.upstream;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One address of an upstream, and how it fares. Counts are any thread's; what {@link Endpoints} decides about it changes
 * under its lock.
 *
 * <pre>
 * healthy ──failures in a row──► ejected ──time──► half open (one trial at a time) ─────success──► healthy
 *                                   ▲                             └─failure, for twice as long──┐
 *                                   └───────────────────────────────────────────────────────────┘
 * </pre>
 */
public final class Endpoint {
    private final InetSocketAddress address;
    private final AtomicInteger pending = new AtomicInteger();
    /** Odd while it is tried out, and another number each time. */
    private final AtomicInteger trial = new AtomicInteger();
    private volatile int failures;
    private volatile boolean ejected;
    private volatile long ejectedUntilNanos;
    private int ejections;

    Endpoint(InetSocketAddress address) {
        this.address = address;
    }

    public InetSocketAddress address() {
        return address;
    }

    /**
     * Something begins there: an exchange, or a connection for one. While the address is left out, it is tried out by that.
     *
     * @return for {@link #end}
     */
    public int begin() {
        pending.incrementAndGet();
        int before = trial.get();
        boolean tried = ejected && !isTried(before) && trial.compareAndSet(before, before + 1);
        return tried ? before + 1 : 0;
    }

    /** And is over, whatever came of it. */
    public void end(int begun) {
        pending.decrementAndGet();
        if (begun != 0) {
            trial.compareAndSet(begun, begun + 1);
        }
    }

    private static boolean isTried(int trial) {
        return trial % 2 != 0;
    }

    public int pending() {
        return pending.get();
    }

    public boolean isEjected() {
        return ejected;
    }

    /** Whether it takes an exchange like any other; half open, only while none tries it out. */
    boolean isOpen(long nowNanos) {
        return !ejected || (isHalfOpen(nowNanos) && !isTried(trial.get()));
    }

    boolean isHalfOpen(long nowNanos) {
        return ejected && nowNanos - ejectedUntilNanos >= 0;
    }

    /** Whether nothing has gone wrong since something went well. */
    boolean isSpotless() {
        return failures == 0 && !ejected;
    }

    // ---- under the lock of its group ----

    /** One more in a row. Returns how many that makes. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // changed under the lock, read without
    int failed() {
        failures++;
        return failures;
    }

    /** Leaves it out. Returns for how many times in a row that is, this one included. */
    int eject() {
        ejected = true;
        ejections++;
        endTrial();
        return ejections;
    }

    void ejectedUntil(long nanos) {
        ejectedUntilNanos = nanos;
    }

    void restore() {
        failures = 0;
        ejected = false;
        ejections = 0;
        endTrial();
    }

    private void endTrial() {
        trial.updateAndGet(now -> isTried(now) ? now + 1 : now);
    }
}
