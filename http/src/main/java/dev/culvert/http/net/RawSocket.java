package dev.culvert.http.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;

/** Socket operations for both sides of a raw connection, the caller's and the upstream's. */
public final class RawSocket {
    private RawSocket() {}

    /**
     * Enables half-closure and TCP keep-alive. Raw connections have no idle time-out, so keep-alive detects a
     * vanished peer within two minutes. Sockets of other transports than epoll use the system's own times.
     */
    public static void prepare(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        KeepAlive.ask(channel);
    }

    /** Closes a socket with a reset and discards unsent bytes. Called on the channel's event loop. */
    public static void reset(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }
}
