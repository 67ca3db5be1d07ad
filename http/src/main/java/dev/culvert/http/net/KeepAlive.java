package dev.culvert.http.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import java.time.Duration;

/**
 * Ends connections whose peer has vanished without a word: a machine that lost its power, a firewall that forgot the
 * connection. TCP itself waits for ever when it has nothing to send, and up to half an hour when it has. Sockets that are not
 * epoll's have the system's own times.
 */
public final class KeepAlive {
    /** Seconds of silence until the kernel asks a peer whether it is there; sooner than most firewalls forget a connection. */
    private static final int ASK_AFTER_SECONDS = 60;
    private static final int ASK_EVERY_SECONDS = 15;
    private static final int QUESTIONS = 4;
    /** How long a peer may leave bytes unacknowledged, or its window closed: longer than networks change and readers pause. */
    public static final Duration UNACKNOWLEDGED = Duration.ofMinutes(5);

    private KeepAlive() {}

    /** Ends the connection two minutes after its peer fell silent, while nothing is on its way to it. */
    public static void ask(Channel channel) {
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_KEEPIDLE, ASK_AFTER_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPINTVL, ASK_EVERY_SECONDS);
            channel.config().setOption(EpollChannelOption.TCP_KEEPCNT, QUESTIONS);
        }
    }

    /** For accepted sockets: ends the connection within {@link #UNACKNOWLEDGED} in any case. */
    public static void bound(Channel channel) {
        ask(channel);
        if (channel instanceof EpollSocketChannel) {
            channel.config()
                    .setOption(EpollChannelOption.TCP_USER_TIMEOUT, (int) UNACKNOWLEDGED.toMillis());
        }
    }
}
