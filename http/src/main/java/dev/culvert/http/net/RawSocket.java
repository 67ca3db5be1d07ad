package dev.culvert.http.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;

/** What the two sockets of a raw connection have in common, the caller's and the upstream's. */
public final class RawSocket {
    private RawSocket() {}

    /**
     * Lets each half close alone, and finds a peer that is gone within two minutes, as there is no idle time-out: by TCP
     * keep-alive, with the system's own times where sockets are not epoll's.
     */
    public static void prepare(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        KeepAlive.ask(channel);
    }

    /** Drops a socket so that its peer sees a reset, whatever still waits. On the channel's event loop. */
    public static void reset(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }
}
