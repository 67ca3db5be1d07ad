package dev.culvert.relay.listen;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The caller's address of a connection: from its PROXY header if the listener expects one, else its peer. */
public final class CallerAddress {
    private static final AttributeKey<ProxyHeader> HEADER = AttributeKey.valueOf(CallerAddress.class,
            "header");

    private static final InetSocketAddress UNKNOWN = InetSocketAddress.createUnresolved("unknown", 0);

    private CallerAddress() {}

    static void keep(Channel channel, ProxyHeader header) {
        channel.attr(HEADER).set(header);
    }

    /**
     * Returns the caller's address, whether a balancer forwarded the connection or not. For accounting and
     * logs.
     */
    public static InetSocketAddress of(Channel channel) {
        ProxyHeader header = channel.attr(HEADER).get();
        InetSocketAddress source = header == null ? null : header.source();
        return source == null ? (InetSocketAddress) channel.remoteAddress() : source;
    }

    /**
     * Returns the caller's address for decisions about the caller. It is unresolved if the PROXY header names
     * no source: the peer is then the balancer, whose address rules and services may trust.
     */
    public static InetSocketAddress judged(Channel channel) {
        ProxyHeader header = channel.attr(HEADER).get();
        return header != null && header.source() == null ? UNKNOWN : of(channel);
    }

    /**
     * Returns the port that the caller connected to: from the PROXY header if there is one, else the
     * listener's.
     */
    public static int port(Channel channel) {
        ProxyHeader header = channel.attr(HEADER).get();
        @Nullable
        InetSocketAddress destination = header == null ? null : header.destination();
        return (destination == null ? (InetSocketAddress) channel.localAddress() : destination).getPort();
    }
}
