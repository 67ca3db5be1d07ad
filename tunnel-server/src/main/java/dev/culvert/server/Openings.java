package dev.culvert.server;

import dev.culvert.edge.listen.CallerAddress;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the sessions that are being opened, from the upgrade request to the session's start: after a storm's TLS
 * handshakes, their certificates and hellos are a second wave. Clients whose certificate TLS brought have a bound of their
 * own, so that strangers, who can only promise a proof, do not use it up; nor does one address use up that of the
 * strangers, unless it is a balancer's. Callable from any thread.
 */
final class Openings {
    /** A second of work for one core; each is over within a round trip, and after 10 s in any case. */
    static final int MAX_PROVEN = 512;
    /** Behind a proxy that ends TLS nobody is known yet. */
    static final int MAX_UNPROVEN = 128;
    /** A round trip each: some hundred a second, for the clients behind one proxy. */
    static final int MAX_UNPROVEN_PER_ADDRESS = 16;
    /** Who is sent away comes back after this at least, */
    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
    /** and at most: far apart, so that the next wave is a lower one. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final AttributeKey<Runnable> PLACE = AttributeKey.valueOf(Openings.class, "place");

    private final int maxProven;
    private final int maxUnproven;
    private final int maxUnprovenPerAddress;
    private final RandomGenerator random;
    private final AtomicInteger proven = new AtomicInteger();
    private final AtomicInteger unproven = new AtomicInteger();
    /** Of the unproven. No address stands here without a place, so it is as bounded as they are. */
    private final Map<InetAddress, Integer> ofAddress = new ConcurrentHashMap<>();

    /** Who opens a session. */
    enum Opener {
        /** A client whose certificate TLS brought. */
        PROVEN,
        /** Somebody who promises a proof. */
        STRANGER,
        /** Somebody who promises a proof, from an address that all clients of a balancer share. */
        BALANCED
    }

    /** @param random spreads those that are sent away; thread-safe */
    Openings(int maxProven, int maxUnproven, int maxUnprovenPerAddress, RandomGenerator random) {
        this.maxProven = maxProven;
        this.maxUnproven = maxUnproven;
        this.maxUnprovenPerAddress = maxUnprovenPerAddress;
        this.random = random;
    }

    /** Takes a place until {@link #opened} or the channel's end. Returns false, and takes none, when there is none. */
    boolean begin(Channel channel, Opener opener) {
        InetAddress address = opener == Opener.STRANGER
                && channel.remoteAddress() instanceof InetSocketAddress
                        ? CallerAddress.of(channel).getAddress()
                        : null;
        if (!enter(address)) {
            return false;
        }
        boolean isProven = opener == Opener.PROVEN;
        AtomicInteger count = isProven ? proven : unproven;
        if (count.incrementAndGet() > (isProven ? maxProven : maxUnproven)) {
            count.decrementAndGet();
            leave(address);
            return false;
        }
        var over = new AtomicBoolean();
        Runnable end = () -> {
            if (over.compareAndSet(false, true)) {
                count.decrementAndGet();
                leave(address);
            }
        };
        channel.attr(PLACE).set(end);
        channel.closeFuture().addListener(closed -> end.run());
        return true;
    }

    private boolean enter(@Nullable InetAddress address) {
        if (address == null || ofAddress.merge(address, 1, Integer::sum) <= maxUnprovenPerAddress) {
            return true;
        }
        leave(address);
        return false;
    }

    private void leave(@Nullable InetAddress address) {
        if (address != null) {
            ofAddress.computeIfPresent(address, (same, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Addresses that have places of the unproven now. */
    int addresses() {
        return ofAddress.size();
    }

    /** The session of {@code channel} has begun. */
    static void opened(Channel channel) {
        Runnable end = channel.attr(PLACE).getAndSet(null);
        if (end != null) {
            end.run();
        }
    }

    /** How long somebody who found no place should wait: whole seconds. */
    Duration retryAfter() {
        return Duration
                .ofSeconds(random.nextLong(SHORTEST_WAIT.toSeconds(), LONGEST_WAIT.toSeconds() + 1));
    }

    /** Sessions that are being opened now. */
    int count() {
        return proven.get() + unproven.get();
    }
}
