package dev.culvert.inbox.intake;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Limits the webhooks a second of each address. Remembers the addresses that sent last; a forgotten one
 * starts with a full allowance. Safe for use by any thread.
 */
final class AddressRates {
    static final int MAX_ADDRESSES = 10_000;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int IPV6_NETWORK = 8;

    private final long interval;
    private final long capacity;
    /** The time at which each address's allowance is full again. */
    private final Map<ByteBuffer, Long> fullAt = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, Long> eldest) {
            return size() > MAX_ADDRESSES;
        }
    };

    AddressRates(int perSecond) {
        this.interval = SECOND / perSecond;
        this.capacity = 2 * SECOND;
    }

    private static ByteBuffer key(InetAddress address) {
        byte[] bytes = address.getAddress();
        return ByteBuffer.wrap(address instanceof Inet6Address ? Arrays.copyOf(bytes, IPV6_NETWORK) : bytes);
    }

    /**
     * Takes one webhook from an address's allowance. Returns the nanoseconds to wait; 0: it may send one now.
     */
    long take(InetAddress address, long nowNanos) {
        ByteBuffer key = key(address);
        synchronized (fullAt) {
            long full = fullAt.getOrDefault(key, nowNanos);
            long missing = Math.max(0, full - nowNanos) + interval;
            if (missing > capacity) {
                return missing - capacity;
            }
            fullAt.put(key, nowNanos + missing);
            return 0;
        }
    }

    int size() {
        synchronized (fullAt) {
            return fullAt.size();
        }
    }
}
