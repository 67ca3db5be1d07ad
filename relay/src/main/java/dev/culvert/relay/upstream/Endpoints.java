package dev.culvert.relay.upstream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses of one upstream name, as all event loops share them: who gets the next exchange, and who is left out
 * because it failed. Choosing takes no lock.
 */
public final class Endpoints {
    private static final Logger log = LoggerFactory.getLogger(Endpoints.class);
    /** Addresses in use are looked at so often; DNS itself is asked when its own time is over. */
    private static final Duration FRESH = Duration.ofSeconds(1);
    /** How long addresses are used on after their name stopped resolving: DNS stumbles more often than services go. */
    static final Duration STALE = Duration.ofSeconds(30);
    /** Behind everybody who takes exchanges. */
    private static final int LAST_RESORT = 1 << 30;

    private final String name;
    private final Ejection ejection;
    private final LongSupplier nanoClock;
    private volatile List<Endpoint> current = List.of();
    private volatile long lookAtNanos;
    private volatile boolean looking;
    private volatile int epoch;
    private long goodUntilNanos;

    /** @param name for the log */
    public Endpoints(String name, Ejection ejection, LongSupplier nanoClock) {
        this.name = name;
        this.ejection = ejection;
        this.nanoClock = nanoClock;
    }

    public boolean areKnown() {
        return !current.isEmpty();
    }

    public int size() {
        return current.size();
    }

    public boolean include(Endpoint endpoint) {
        return current.contains(endpoint);
    }

    /**
     * The one with the fewest exchanges of those that take any; one that is left out when there is no other.
     *
     * @param tried who is not asked for
     * @return null: there is nobody else
     */
    public @Nullable Endpoint pick(Collection<Endpoint> tried) {
        List<Endpoint> all = current;
        if (all.size() == 1) {
            return tried.contains(all.getFirst()) ? null : all.getFirst();
        }
        long now = nanoClock.getAsLong();
        int start = all.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(all.size());
        Endpoint best = null;
        int least = Integer.MAX_VALUE;
        for (int i = 0; i < all.size(); i++) {
            Endpoint next = all.get((start + i) % all.size());
            int rank = rank(next, now);
            if (rank < least && !tried.contains(next)) {
                best = next;
                least = rank;
            }
        }
        return best;
    }

    /** The lower, the sooner. What an address is tried out with does not wait for what it was given before. */
    private static int rank(Endpoint endpoint, long now) {
        if (!endpoint.isOpen(now)) {
            return LAST_RESORT + endpoint.pending();
        }
        return endpoint.isEjected() ? 0 : endpoint.pending();
    }

    /** A connection failed, or an exchange got no response. */
    public synchronized void failed(Endpoint endpoint) {
        long now = nanoClock.getAsLong();
        int inARow = endpoint.failed();
        boolean again = endpoint.isHalfOpen(now);
        if (again || (!endpoint.isEjected() && inARow >= ejection.failures() && mayEject())) {
            Duration time = ejection.time(endpoint.eject());
            endpoint.ejectedUntil(now + time.toNanos());
            log.atWarn()
                    .addKeyValue("upstream", name)
                    .addKeyValue("address", endpoint.address())
                    .addKeyValue("failures", inARow)
                    .addKeyValue("seconds", time.toSeconds())
                    .log("address of an upstream left out");
        }
    }

    private boolean mayEject() {
        return (ejected() + 1) * 100L <= (long) ejection.most() * current.size();
    }

    /** How many are left out now. */
    public int ejected() {
        int out = 0;
        for (Endpoint endpoint : current) {
            out += endpoint.isEjected() ? 1 : 0;
        }
        return out;
    }

    /** A response came. */
    public void succeeded(Endpoint endpoint) {
        if (!endpoint.isSpotless()) {
            restore(endpoint);
        }
    }

    private synchronized void restore(Endpoint endpoint) {
        if (endpoint.isEjected()) {
            log.atInfo()
                    .addKeyValue("upstream", name)
                    .addKeyValue("address", endpoint.address())
                    .log("address of an upstream serves again");
        }
        endpoint.restore();
    }

    // ---- where they come from ----

    /** Whether the caller is to look for the addresses now, and then to say what it found. */
    public boolean isDue() {
        return !looking && nanoClock.getAsLong() - lookAtNanos >= 0 && claim();
    }

    private synchronized boolean claim() {
        boolean mine = !looking;
        looking = true;
        return mine;
    }

    /** Taken before the names are, and given back with what was found: see {@link #forget}. */
    public int epoch() {
        return epoch;
    }

    /**
     * These are the addresses now; those that were there before keep their state.
     *
     * @param asked the epoch in which they were asked for
     * @return whether they count; else they were asked for by other names, and the caller has to look again
     */
    public synchronized boolean found(int asked, List<InetSocketAddress> addresses) {
        if (asked != epoch) {
            return false;
        }
        List<Endpoint> before = current;
        List<Endpoint> next = new ArrayList<>();
        for (InetSocketAddress address : addresses.stream().distinct().toList()) {
            next.add(before.stream()
                    .filter(known -> known.address().equals(address))
                    .findFirst()
                    .orElseGet(() -> new Endpoint(address)));
        }
        before.stream().filter(gone -> !next.contains(gone) && gone.isEjected()).forEach(this::restore);
        current = List.copyOf(next);
        goodUntilNanos = nanoClock.getAsLong() + STALE.toNanos();
        looked();
        return true;
    }

    /** The name does not resolve now. As {@link #found}. */
    public synchronized boolean notFound(int asked) {
        if (asked != epoch) {
            return false;
        }
        if (!current.isEmpty() && nanoClock.getAsLong() - goodUntilNanos >= 0) {
            current.stream().filter(Endpoint::isEjected).forEach(this::restore);
            current = List.of();
        }
        looked();
        return true;
    }

    /** The name may lead anywhere now: whoever asks next has to look, and whoever looks has to look again. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public // changed under the lock, read without
    synchronized void forget() {
        epoch++;
        current.stream().filter(Endpoint::isEjected).forEach(this::restore);
        current = List.of();
        lookAtNanos = nanoClock.getAsLong();
    }

    private void looked() {
        lookAtNanos = nanoClock.getAsLong() + FRESH.toNanos();
        looking = false;
    }
}
