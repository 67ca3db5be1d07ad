package dev.culvert.relay.upstream;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One address of an upstream, and its health. Any thread may read and change the counts. {@link Endpoints}
 * changes the state under its lock.
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
    /** The number of the present or last trial: odd while a trial is in progress, and different each time. */
    private final AtomicInteger trial = new AtomicInteger();
    private volatile int failures;
    private volatile boolean ejected;
    private volatile long ejectedUntilNanos;
    private int ejections;
    private final @Nullable EndpointName name;
    private volatile boolean outrun;
    private volatile long outrunUntilNanos;

    /** @param name the name that has this address; null if the address itself is configured */
    Endpoint(InetSocketAddress address, @Nullable EndpointName name) {
        this.address = address;
        this.name = name;
    }

    public InetSocketAddress address() {
        return address;
    }

    @Nullable
    EndpointName name() {
        return name;
    }

    /** Whether this address has the family that its name does not prefer, and so the same servers again. */
    boolean isSpare() {
        return name != null && !name.prefers(address);
    }

    /** Whether another address of the same name and family is meant to share its load. */
    boolean isBeside(Endpoint other) {
        return name == other.name && (name == null || EndpointName.areAlike(address, other.address));
    }

    /** Records that another address connected earlier although this one was tried first. */
    void outrun(long untilNanos) {
        outrunUntilNanos = untilNanos;
        outrun = true;
    }

    boolean isOutrun(long nowNanos) {
        return outrun && nowNanos - outrunUntilNanos < 0;
    }

    /** Records a connection: the address answers, and its family is preferred. */
    void reached() {
        outrun = false;
        if (name != null) {
            name.prefer(address);
        }
    }

    /**
     * Counts an exchange, or a connection for one, that begins at this address. If the address is ejected,
     * this is its trial.
     *
     * @return the token for {@link #end}
     */
    public int begin() {
        pending.incrementAndGet();
        int before = trial.get();
        boolean tried = ejected && !isTried(before) && trial.compareAndSet(before, before + 1);
        return tried ? before + 1 : 0;
    }

    /** Counts the end of an exchange or connection, whatever its result. */
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

    /** Whether the address takes exchanges. A half-open address does only while no trial is in progress. */
    boolean isOpen(long nowNanos) {
        return !ejected || (isHalfOpen(nowNanos) && !isTried(trial.get()));
    }

    boolean isHalfOpen(long nowNanos) {
        return ejected && nowNanos - ejectedUntilNanos >= 0;
    }

    /** Whether the address had no failure since its last success. */
    boolean isSpotless() {
        return failures == 0 && !ejected;
    }

    // ---- under the lock of its group ----

    /** Counts a failure. Returns the number of consecutive failures. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock, read without it
    int failed() {
        failures++;
        return failures;
    }

    /** Ejects the address. Returns the number of consecutive ejections, this one included. */
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
