package dev.culvert.http.net;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.Ticker;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that one listener reads only to drop them, as a rate for each source address and for all of them.
 * A source that exceeds its rate is read later, not cut: its bytes wait in its own socket. Safe for use by
 * any thread.
 */
public final class DiscardAccounts {
    /** Bytes per second, and at once after a pause. A refused upload of 30 MiB is read without a pause. */
    public static final Rate OF_SOURCE = new Rate(16 << 20, 64 << 20);

    /** About a tenth of what one core reads and drops. */
    public static final Rate OF_LISTENER = new Rate(64 << 20, 256 << 20);

    /** The maximum number of sources with an account of their own; the others share one. */
    static final int MAX_SOURCES = 4096;

    private static final AttributeKey<Account> ACCOUNT = AttributeKey.valueOf(DiscardAccounts.class,
            "account");
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Rate ofSource;
    private final Bucket all;
    private final Bucket others;
    private final ConcurrentHashMap<SourceAddress, Bucket> sources = new ConcurrentHashMap<>();
    private final AtomicLong sweptNanos;

    /**
     * A rate with a burst.
     *
     * @param perSecond bytes per second
     * @param burst bytes at once after a pause
     */
    public record Rate(int perSecond, int burst) {}

    /** A token bucket, kept as the time at which the bytes so far are paid for. */
    private static final class Bucket {
        private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

        private final Rate rate;
        private final long burstNanos;
        private final AtomicLong paidAt;

        Bucket(Rate rate, long nowNanos) {
            this.rate = rate;
            this.burstNanos = rate.burst() * SECOND / rate.perSecond();
            this.paidAt = new AtomicLong(nowNanos - burstNanos);
        }

        /** Counts bytes, and returns the nanoseconds until they are paid for; 0 or less: they are. */
        long charge(long bytes, long nowNanos) {
            long cost = bytes * SECOND / rate.perSecond();
            return paidAt.updateAndGet(at -> Math.max(at - nowNanos, -burstNanos) + nowNanos + cost)
                    - nowNanos;
        }

        boolean isFull(long nowNanos) {
            return paidAt.get() - nowNanos <= -burstNanos;
        }
    }

    /** The account of one connection's source. */
    public static final class Account {
        private final DiscardAccounts accounts;
        private final SourceAddress source;

        private Account(DiscardAccounts accounts, SourceAddress source) {
            this.accounts = accounts;
            this.source = source;
        }

        /**
         * Counts dropped bytes.
         *
         * @return the nanoseconds for which no more may be read; 0: more may be read at once
         */
        long charge(int bytes, long nowNanos) {
            return accounts.charge(source, bytes, nowNanos);
        }
    }

    /** Accounts with the default rates, by the clock of event loops. */
    public DiscardAccounts() {
        this(OF_SOURCE, OF_LISTENER, Ticker.systemTicker().nanoTime());
    }

    DiscardAccounts(Rate ofSource, Rate ofListener, long nowNanos) {
        this.ofSource = ofSource;
        this.all = new Bucket(ofListener, nowNanos);
        this.others = new Bucket(ofSource, nowNanos);
        this.sweptNanos = new AtomicLong(nowNanos - SWEEP_NANOS);
    }

    /** Charges a connection to its source from now on. */
    public void keep(Channel channel, SourceAddress source) {
        channel.attr(ACCOUNT).set(new Account(this, source));
    }

    /** The account of a connection. A connection that no listener has kept has accounts of its own. */
    static Account of(Channel channel) {
        @Nullable
        Account kept = channel.attr(ACCOUNT).get();
        if (kept != null) {
            return kept;
        }
        long now = channel.eventLoop().ticker().nanoTime();
        return new Account(new DiscardAccounts(OF_SOURCE, OF_LISTENER, now),
                SourceAddress.of(channel.remoteAddress()));
    }

    long charge(SourceAddress source, int bytes, long nowNanos) {
        long own = bucket(source, nowNanos).charge(bytes, nowNanos);
        return Math.max(0, Math.max(own, all.charge(bytes, nowNanos)));
    }

    private Bucket bucket(SourceAddress source, long nowNanos) {
        Bucket known = sources.get(source);
        if (known != null) {
            return known;
        }
        if (sources.size() >= MAX_SOURCES) {
            sweep(nowNanos);
            if (sources.size() >= MAX_SOURCES) {
                return others;
            }
        }
        return sources.computeIfAbsent(source, any -> new Bucket(ofSource, nowNanos));
    }

    /** Forgets the sources that a new account would treat alike, at most once a second. */
    private void sweep(long nowNanos) {
        long last = sweptNanos.get();
        if (nowNanos - last >= SWEEP_NANOS && sweptNanos.compareAndSet(last, nowNanos)) {
            sources.values().removeIf(bucket -> bucket.isFull(nowNanos));
        }
    }

    /** Sources with an account of their own. */
    int sources() {
        return sources.size();
    }
}
