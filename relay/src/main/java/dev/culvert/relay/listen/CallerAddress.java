package dev.culvert.relay.listen;

import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Where a connection comes from: what its PROXY header says, if its listener asks for one, else its peer. */
public final class CallerAddress {
    private static final AttributeKey<ProxyHeader> HEADER = AttributeKey.valueOf(CallerAddress.class,
            "header");

    private static final InetSocketAddress UNKNOWN = InetSocketAddress.createUnresolved("unknown", 0);

    private CallerAddress() {}

    static void keep(Channel channel, ProxyHeader header) {
        channel.attr(HEADER).set(header);
    }

    /** Who connected, through a balancer or without one: for accounts and logs. */
    public static InetSocketAddress of(Channel channel) {
        ProxyHeader header = channel.attr(HEADER).get();
        InetSocketAddress source = header == null ? null : header.source();
        return source == null ? (InetSocketAddress) channel.remoteAddress() : source;
    }

    /**
     * The same for decisions about the caller: an unresolved address where the PROXY header names nobody, because the
     * balancer's address, which rules and services may trust, is not the caller's.
     */
    public static InetSocketAddress judged(Channel channel) {
        ProxyHeader header = channel.attr(HEADER).get();
        return header != null && header.source() == null ? UNKNOWN : of(channel);
    }

    /** The port that was dialled: the balancer's, or that of the listener. */
    public static int port(Channel channel) {
        ProxyHeader header = channel.attr(HEADER).get();
        @Nullable
        InetSocketAddress destination = header == null ? null : header.destination();
        return (destination == null ? (InetSocketAddress) channel.localAddress() : destination).getPort();
    }
}
