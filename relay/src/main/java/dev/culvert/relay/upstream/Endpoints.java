package dev.culvert.relay.upstream;

import dev.culvert.certs.tls.UntrustedServerException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.NetUtil;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The addresses of one upstream name, shared by all event loops. Chooses the address of the next exchange,
 * and ejects addresses that failed. Choosing takes no lock.
 */
public final class Endpoints {
    private static final Logger log = LoggerFactory.getLogger(Endpoints.class);
    /**
     * The interval at which the addresses of a name in use are refreshed. DNS itself is queried only when its
     * TTL has passed.
     */
    private static final Duration FRESH = Duration.ofSeconds(1);
    /**
     * The time for which addresses stay in use after their name stopped resolving: DNS fails more often than
     * services move.
     */
    static final Duration STALE = Duration.ofSeconds(30);
    /** Added to the rank of addresses that take no exchanges, so that they come last. */
    private static final int LAST_RESORT = 1 << 30;
    /** Added to the rank of addresses of the family that their name does not prefer. */
    private static final int SPARE = 1 << 29;
    /** Added to the rank of addresses that were slower than the others to connect. */
    private static final int SLOW = 1 << 28;
    /** The time for which an address that did not connect in time comes behind the others. */
    static final Duration OUTRUN = Duration.ofSeconds(30);

    private final String name;
    private final Ejection ejection;
    private final LongSupplier nanoClock;
    private volatile List<Endpoint> current = List.of();
    private volatile long lookAtNanos;
    private volatile boolean looking;
    private volatile int epoch;
    private long goodUntilNanos;
    private volatile String trouble = "";
    /** The names whose addresses are known, at most as many as are configured for the upstream. */
    private Map<HostPort, EndpointName> names = Map.of();

    /** @param name the upstream's name in the log */
    public Endpoints(String name, Ejection ejection, LongSupplier nanoClock) {
        this.name = name;
        this.ejection = ejection;
        this.nanoClock = nanoClock;
    }

    /** Keeps why the last dial of an address failed, for the log. */
    public void trouble(Endpoint endpoint, Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null && !(root instanceof UntrustedServerException)) {
            root = root.getCause();
        }
        trouble = NetUtil.toSocketAddressString(endpoint.address()) + switch (failure) {
            case ConnectTimeoutException silent -> " did not accept a connection in time";
            case ConnectException refused when Reason.isRefused(refused) -> " refused the connection";
            default -> ": " + Reason.of(root);
        };
    }

    /** The address that could not be dialled last, and why; empty: none. */
    public String trouble() {
        return trouble;
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
     * Returns the address with the fewest exchanges among those that take any. If none does, returns an
     * ejected one. Of a name with both families, one is used while it connects; behind an address that was
     * tried, the other family comes first (RFC 8305 §4).
     *
     * @param tried addresses to leave out
     * @return null if no other address exists
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
            int rank = isTurnOf(next, tried) ? 0 : rank(next, now);
            if (rank < least && !tried.contains(next)) {
                best = next;
                least = rank;
            }
        }
        return best;
    }

    /**
     * Ranks an address; the lowest rank is chosen. A half-open address ranks first, so that its trial does
     * not wait behind other addresses.
     */
    private static int rank(Endpoint endpoint, long now) {
        int spare = endpoint.isSpare() ? SPARE : 0;
        int slow = endpoint.isOutrun(now) ? SLOW : 0;
        if (!endpoint.isOpen(now)) {
            return LAST_RESORT + spare + slow + endpoint.pending();
        }
        return spare + slow + (endpoint.isEjected() ? 0 : endpoint.pending());
    }

    /** Whether only addresses of the other family were tried of this one's name. */
    private static boolean isTurnOf(Endpoint endpoint, Collection<Endpoint> tried) {
        boolean other = false;
        for (Endpoint each : tried) {
            if (each.name() == endpoint.name()) {
                if (each.isBeside(endpoint)) {
                    return false;
                }
                other = true;
            }
        }
        return other;
    }

    /** Records that a connection was made, though no exchange ended yet. */
    public void connected(Endpoint endpoint) {
        endpoint.reached();
    }

    /** Records that another address connected while an attempt at this one went on. */
    public void outrun(Endpoint endpoint) {
        endpoint.outrun(nanoClock.getAsLong() + OUTRUN.toNanos());
    }

    /** Records that a connection failed, or that an exchange received no response. */
    public synchronized void failed(Endpoint endpoint) {
        long now = nanoClock.getAsLong();
        int inARow = endpoint.failed();
        boolean again = endpoint.isHalfOpen(now);
        if (again || (!endpoint.isEjected() && inARow >= ejection.failures() && mayEject(endpoint))) {
            Duration time = ejection.time(endpoint.eject());
            endpoint.ejectedUntil(now + time.toNanos());
            log.atWarn()
                    .addKeyValue("upstream", name)
                    .addKeyValue("address", endpoint.address())
                    .addKeyValue("failures", inARow)
                    .addKeyValue("seconds", time.toSeconds())
                    .log("upstream address ejected");
        }
    }

    /** The share counts the addresses among which exchanges are spread: those of one family. */
    private boolean mayEject(Endpoint endpoint) {
        List<Endpoint> beside = current.stream().filter(endpoint::isBeside).toList();
        long out = beside.stream().filter(Endpoint::isEjected).count();
        return (out + 1) * 100L <= (long) ejection.most() * beside.size();
    }

    /** The number of addresses that are ejected now. */
    public int ejected() {
        int out = 0;
        for (Endpoint endpoint : current) {
            out += endpoint.isEjected() ? 1 : 0;
        }
        return out;
    }

    /** Records a response from an address. */
    public void succeeded(Endpoint endpoint) {
        if (!trouble.isEmpty()) {
            trouble = "";
        }
        if (!endpoint.isSpotless()) {
            restore(endpoint);
        }
    }

    private synchronized void restore(Endpoint endpoint) {
        if (endpoint.isEjected()) {
            log.atInfo()
                    .addKeyValue("upstream", name)
                    .addKeyValue("address", endpoint.address())
                    .log("upstream address restored");
        }
        endpoint.restore();
    }

    // ---- where they come from ----

    /**
     * Whether the caller must resolve the name now and then report the result. Returns true to one caller at
     * a time.
     */
    public boolean isDue() {
        return !looking && nanoClock.getAsLong() - lookAtNanos >= 0 && claim();
    }

    private synchronized boolean claim() {
        boolean mine = !looking;
        looking = true;
        return mine;
    }

    /**
     * The number of the present names. Callers read it before they resolve, and pass it with the result; see
     * {@link #forget}.
     */
    public int epoch() {
        return epoch;
    }

    /** The addresses of one configured target, in the order of preference, and the name if it is one. */
    public record Found(@Nullable HostPort name, List<InetSocketAddress> addresses) {}

    /**
     * Replaces the addresses. Addresses that were known before keep their state.
     *
     * @param asked the epoch that was read before resolving
     * @return whether the result was used; if not, the names changed meanwhile and the caller must resolve
     *     again
     */
    public synchronized boolean found(int asked, List<Found> targets) {
        if (asked != epoch) {
            return false;
        }
        List<Endpoint> before = current;
        Map<InetSocketAddress, Endpoint> all = new LinkedHashMap<>();
        Map<HostPort, EndpointName> named = new HashMap<>();
        for (Found target : targets) {
            EndpointName of = target.name == null || target.addresses.isEmpty()
                    ? null
                    : named.computeIfAbsent(target.name, key -> Objects.requireNonNullElseGet(names.get(key),
                            () -> new EndpointName(target.addresses)));
            for (InetSocketAddress address : target.addresses) {
                all.computeIfAbsent(address, key -> before.stream()
                        .filter(known -> known.address().equals(key) && known.name() == of)
                        .findFirst()
                        .orElseGet(() -> new Endpoint(key, of)));
            }
        }
        Collection<Endpoint> next = all.values();
        names = Map.copyOf(named);
        before.stream().filter(gone -> !next.contains(gone) && gone.isEjected()).forEach(this::restore);
        current = List.copyOf(next);
        goodUntilNanos = nanoClock.getAsLong() + STALE.toNanos();
        looked();
        return true;
    }

    /** Records that the name does not resolve now. Parameters and result as for {@link #found}. */
    public synchronized boolean notFound(int asked) {
        if (asked != epoch) {
            return false;
        }
        trouble = "";
        if (!current.isEmpty() && nanoClock.getAsLong() - goodUntilNanos >= 0) {
            current.stream().filter(Endpoint::isEjected).forEach(this::restore);
            current = List.of();
        }
        looked();
        return true;
    }

    /**
     * Forgets the addresses, because the configured names changed. The next caller resolves again, and so
     * does a caller that is resolving now.
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock, read without it
    public synchronized void forget() {
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
