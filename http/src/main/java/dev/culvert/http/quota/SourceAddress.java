package dev.culvert.http.quota;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The account of a caller: its IPv4 address, or the /64 of its IPv6 address, because one host can use any
 * address of a /64. IPv4-mapped addresses count as IPv4 addresses (Java converts them).
 *
 * @param network the address or prefix, in network byte order; 0 for {@link #UNKNOWN}
 * @param v6 whether it is the prefix of an IPv6 address
 */
public record SourceAddress(long network, boolean v6) {
    /** The account that all callers with an unknown address share. */
    public static final SourceAddress UNKNOWN = new SourceAddress(0, false);

    private static final int PREFIX_BYTES = 8;

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

    /** {@code 192.0.2.7/32} or {@code 2001:db8:0:1::/64}. */
    @Override
    public String toString() {
        if (!v6) {
            return (network >>> 24 & 0xff) + "." + (network >>> 16 & 0xff) + "." + (network >>> 8 & 0xff)
                    + "."
                    + (network & 0xff) + "/32";
        }
        return Long.toHexString(network >>> 48) + ":" + Long.toHexString(network >>> 32 & 0xffff) + ":"
                + Long.toHexString(network >>> 16 & 0xffff) + ":" + Long.toHexString(network & 0xffff)
                + "::/64";
    }
}
