package dev.culvert.http.quota;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The account of a caller: its IPv4 address, or the /64 of its IPv6 address, because one host can use any
 * address of a /64. IPv4-mapped addresses count as IPv4 addresses (Java converts them). The /64s of one /48
 * are a group, because one site is usually given a whole /48 (RFC 6177).
 *
 * @param network the address or prefix, in network byte order; 0 for {@link #UNKNOWN}
 * @param prefixLength the bits of {@code network} that count: 32 for IPv4, 64 or 48 for IPv6; 0 for
 *     {@link #UNKNOWN}
 */
public record SourceAddress(long network, byte prefixLength) implements Quota.Grouped {
    /** The account that all callers with an unknown address share. */
    public static final SourceAddress UNKNOWN = new SourceAddress(0, (byte) 0);

    private static final byte V4 = 32;
    private static final byte V6_HOST = 64;
    private static final byte V6_SITE = 48;
    private static final int PREFIX_BYTES = 8;
    private static final int SUBNET_BITS = V6_HOST - V6_SITE;

    /** The account of an IPv4 address, or of the /64 of an IPv6 address. */
    public SourceAddress(long network, boolean v6) {
        this(network, v6 ? V6_HOST : V4);
    }

    /** The account of an address; {@link #UNKNOWN} for null. */
    public static SourceAddress of(@Nullable InetAddress address) {
        if (address == null) {
            return UNKNOWN;
        }
        byte[] bytes = address.getAddress();
        boolean v4 = address instanceof Inet4Address;
        long network = 0;
        for (int i = 0; i < (v4 ? bytes.length : PREFIX_BYTES); i++) {
            network = network << Byte.SIZE | bytes[i] & 0xff;
        }
        return new SourceAddress(network, !v4);
    }

    /**
     * The account of a socket's peer; {@link #UNKNOWN} if the address is unresolved or not an internet
     * address.
     */
    public static SourceAddress of(@Nullable SocketAddress peer) {
        return peer instanceof InetSocketAddress inet ? of(inet.getAddress()) : UNKNOWN;
    }

    /** Whether it is the prefix of an IPv6 address. */
    public boolean v6() {
        return prefixLength > V4;
    }

    /** The /48 of a /64; null for all others. */
    @Override
    public @Nullable SourceAddress group() {
        return prefixLength == V6_HOST
                ? new SourceAddress(network >>> SUBNET_BITS << SUBNET_BITS, V6_SITE)
                : null;
    }

    /** Returns the account of the whole site: the /48 of an IPv6 address; an IPv4 address is its own site. */
    public SourceAddress site() {
        SourceAddress group = group();
        return group == null ? this : group;
    }

    /** {@code 192.0.2.7/32}, {@code 2001:db8:0:1::/64} or {@code 2001:db8::/48}. */
    @Override
    public String toString() {
        if (!v6()) {
            return (network >>> 24 & 0xff) + "." + (network >>> 16 & 0xff) + "." + (network >>> 8 & 0xff)
                    + "."
                    + (network & 0xff) + "/32";
        }
        String site = Long.toHexString(network >>> 48) + ":" + Long.toHexString(network >>> 32 & 0xffff) + ":"
                + Long.toHexString(network >>> 16 & 0xffff);
        return prefixLength == V6_SITE
                ? site + "::/48"
                : site + ":" + Long.toHexString(network & 0xffff) + "::/64";
    }
}
