package dev.culvert.http.net;

import io.netty.resolver.DefaultHostsFileEntriesResolver;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.ResolvedAddressTypes;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Which addresses a name has, and in which order they are tried. Stateless. */
public final class HostAddresses {
    private static final String LOOPBACK = "localhost";
    private static final List<InetAddress> LOOPBACKS = List.of(NetUtil.LOCALHOST4, NetUtil.LOCALHOST6);

    private HostAddresses() {}

    /** Reads the hosts file, which blocks, if it was not read: event loops look names up in it. */
    static void prepare() {
        Objects.requireNonNull(HostsFileEntriesResolver.DEFAULT);
    }

    /**
     * Returns the addresses of {@code localhost} and names below it, which are those of the hosts file and
     * then 127.0.0.1 and ::1, and are never asked of DNS (RFC 6761 §6.3); null for other names. Many hosts
     * files list one of the two, while a server may listen on the other alone.
     */
    public static @Nullable List<InetAddress> loopback(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        if (!name.equals(LOOPBACK) && !name.endsWith("." + LOOPBACK)) {
            return null;
        }
        var all = new LinkedHashSet<InetAddress>();
        if (HostsFileEntriesResolver.DEFAULT instanceof DefaultHostsFileEntriesResolver file) {
            List<InetAddress> listed = file.addresses(name, ResolvedAddressTypes.IPV4_PREFERRED);
            if (listed != null) {
                all.addAll(listed);
            }
        }
        if (all.isEmpty() || all.stream().anyMatch(LOOPBACKS::contains)) {
            all.addAll(LOOPBACKS);
        }
        return List.copyOf(all);
    }

    /**
     * Resolves a name with the system's resolver, in the order of attempts. Blocks.
     *
     * @throws UnknownHostException if the name has no address
     */
    public static List<InetAddress> all(String host) throws UnknownHostException {
        List<InetAddress> loopback = loopback(host);
        return loopback != null ? loopback : interleaved(List.of(InetAddress.getAllByName(host)));
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
