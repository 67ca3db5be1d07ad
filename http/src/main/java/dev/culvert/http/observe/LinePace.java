package dev.culvert.http.observe;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Lets one line of a log pass in an interval, because peers that may be hostile cause the lines. Counts what
 * happens between two lines. Safe for use by any thread.
 */
public final class LinePace {
    private final long interval;
    private final LongSupplier nanoClock;
    private final AtomicLong next;
    private final AtomicLong untold = new AtomicLong();

    public LinePace(Duration interval) {
        this(interval, System::nanoTime);
    }

    public LinePace(Duration interval, LongSupplier nanoClock) {
        this.interval = interval.toNanos();
        this.nanoClock = nanoClock;
        this.next = new AtomicLong(nanoClock.getAsLong());
    }

    /** Counts an event. Returns the number of events that a line has to tell now, or 0: no line now. */
    public long add() {
        untold.incrementAndGet();
        long due = next.get();
        long now = nanoClock.getAsLong();
        return now - due >= 0 && next.compareAndSet(due, now + interval) ? untold.getAndSet(0) : 0;
    }
}
