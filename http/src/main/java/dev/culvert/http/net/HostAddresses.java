package dev.culvert.http.net;

import io.netty.resolver.DefaultHostsFileEntriesResolver;
import io.netty.resolver.HostsFileEntriesResolver;
import io.netty.resolver.ResolvedAddressTypes;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Addresses of names that DNS is not asked for. Stateless. */
public final class HostAddresses {
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
        if (!AddressOrder.isLoopback(host)) {
            return null;
        }
        String name = host.toLowerCase(Locale.ROOT);
        List<InetAddress> listed = HostsFileEntriesResolver.DEFAULT instanceof DefaultHostsFileEntriesResolver file
                ? file.addresses(name.endsWith(".") ? name.substring(0, name.length() - 1) : name,
                        ResolvedAddressTypes.IPV4_PREFERRED)
                : null;
        return AddressOrder.withLoopback(listed == null ? List.of() : listed);
    }
}
