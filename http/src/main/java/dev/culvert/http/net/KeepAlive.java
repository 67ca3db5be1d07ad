package dev.culvert.http.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import java.time.Duration;

/**
 * Closes connections whose peer has vanished without closing them, because its machine lost power or a
 * firewall dropped the connection state. Without keep-alive, TCP waits for ever when it has nothing to send,
 * and up to half an hour when it has. Sockets of other transports than epoll use the system's own times.
 */
public final class KeepAlive {
    /**
     * Idle seconds before the kernel sends the first keep-alive probe. Most firewalls keep connection state
     * longer.
     */
    private static final int ASK_AFTER_SECONDS = 60;
    private static final int ASK_EVERY_SECONDS = 15;
    private static final int QUESTIONS = 4;
    /**
     * The maximum time for which a peer may leave bytes unacknowledged or its window closed. Network changes
     * and pauses of readers are shorter.
     */
    public static final Duration UNACKNOWLEDGED = Duration.ofMinutes(5);

    private KeepAlive() {}

    /** Enables keep-alive: an idle connection is closed two minutes after its peer stopped responding. */
    public static void ask(Channel channel) {
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_KEEPIDLE, ASK_AFTER_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPINTVL, ASK_EVERY_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPCNT, QUESTIONS);
        }
    }

    /**
     * Enables keep-alive on an accepted socket, and closes the connection if bytes stay unacknowledged for
     * {@link #UNACKNOWLEDGED}.
     */
    public static void bound(Channel channel) {
        ask(channel);
        if (channel instanceof EpollSocketChannel) {
            channel.config()
                    .setOption(EpollChannelOption.TCP_USER_TIMEOUT, (int) UNACKNOWLEDGED.toMillis());
        }
    }
}
