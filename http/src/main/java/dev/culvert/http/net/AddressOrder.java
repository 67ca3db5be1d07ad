package dev.culvert.http.net;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;

/**
 * In which order the addresses of a name are tried. Loads no library, because short commands use it.
 * Stateless.
 */
public final class AddressOrder {
    private static final String LOOPBACK = "localhost";
    private static final List<InetAddress> LOOPBACKS = List.of(InetAddress.ofLiteral("127.0.0.1"),
            InetAddress.ofLiteral("::1"));

    private AddressOrder() {}

    /**
     * Resolves a name with the system's resolver, in the order of attempts. Blocks.
     *
     * @throws UnknownHostException if the name has no address
     */
    public static List<InetAddress> all(String host) throws UnknownHostException {
        return isLoopback(host)
                ? withLoopback(listed(host))
                : interleaved(List.of(InetAddress.getAllByName(host)));
    }

    private static List<InetAddress> listed(String host) {
        try {
            return List.of(InetAddress.getAllByName(host));
        } catch (UnknownHostException e) {
            return List.of(); // many systems know no names below localhost
        }
    }

    /** Whether it is {@code localhost} or a name below it. */
    static boolean isLoopback(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        return name.equals(LOOPBACK) || name.endsWith("." + LOOPBACK);
    }

    /**
     * Returns the addresses that a hosts file lists for a name below {@code localhost}, then 127.0.0.1 and
     * ::1. Those are left out if only others are listed.
     */
    static List<InetAddress> withLoopback(List<InetAddress> listed) {
        var all = new LinkedHashSet<>(listed);
        if (all.isEmpty() || all.stream().anyMatch(LOOPBACKS::contains)) {
            all.addAll(LOOPBACKS);
        }
        return List.copyOf(all);
    }

    /**
     * Returns the addresses in turns of one family and the other, beginning with the family of the first
     * (RFC 8305 §4), each family in the given order.
     */
    public static List<InetAddress> interleaved(List<InetAddress> addresses) {
        if (addresses.isEmpty()) {
            return List.of();
        }
        Class<?> first = addresses.getFirst().getClass();
        List<InetAddress> one = addresses.stream().filter(each -> each.getClass() == first).toList();
        List<InetAddress> other = addresses.stream().filter(each -> each.getClass() != first).toList();
        var mixed = new ArrayList<InetAddress>(addresses.size());
        for (int i = 0; i < Math.max(one.size(), other.size()); i++) {
            if (i < one.size()) {
                mixed.add(one.get(i));
            }
            if (i < other.size()) {
                mixed.add(other.get(i));
            }
        }
        return List.copyOf(mixed);
    }
}
