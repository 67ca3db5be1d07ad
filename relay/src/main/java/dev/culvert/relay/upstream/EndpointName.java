package dev.culvert.relay.upstream;

import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.util.List;

/**
 * A name that has addresses of both families, which lead to the same servers. Exchanges go to the family that
 * connected last, at first to that of the first address; the other one is for when it fails. Thread-safe.
 */
final class EndpointName {
    private volatile boolean four;

    /** @param addresses in the order of the resolver, at least one */
    EndpointName(List<InetSocketAddress> addresses) {
        four = isFour(addresses.getFirst());
    }

    boolean prefers(InetSocketAddress address) {
        return isFour(address) == four;
    }

    void prefer(InetSocketAddress address) {
        boolean family = isFour(address);
        if (family != four) {
            four = family;
        }
    }

    /** Whether both are of one family. */
    static boolean areAlike(InetSocketAddress one, InetSocketAddress other) {
        return isFour(one) == isFour(other);
    }

    private static boolean isFour(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address;
    }
}
