package dev.culvert.edge;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;

/** What the two sockets of a raw connection have in common, the caller's and the upstream's. */
public final class RawSocket {
    /** Seconds of silence until the kernel asks a peer whether it is there; sooner than most firewalls forget a connection. */
    private static final int ASK_AFTER_SECONDS = 60;
    private static final int ASK_EVERY_SECONDS = 15;
    private static final int QUESTIONS = 4;

    private RawSocket() {}

    /**
     * Lets each half close alone, and finds a peer that is gone within two minutes, as there is no idle time-out: by TCP
     * keep-alive, with the system's own times where sockets are not epoll's.
     */
    public static void prepare(Channel channel) {
        channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_KEEPIDLE, ASK_AFTER_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPINTVL, ASK_EVERY_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPCNT, QUESTIONS);
        }
    }

    /** Drops a socket so that its peer sees a reset, whatever still waits. On the channel's event loop. */
    public static void reset(Channel channel) {
        if (channel.isOpen()) {
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            channel.close();
        }
    }
}
