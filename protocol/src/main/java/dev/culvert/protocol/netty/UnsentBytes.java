package dev.culvert.protocol.netty;

import io.netty.channel.Channel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import java.time.Duration;

/**
 * Bounds the bytes that wait unsent in front of a head that comes later, in this process and in its kernel
 * (docs/protocol.md §7): to what the link carries in 5 ms. The link's rate is measured while it is full, and
 * until then the bound is {@link #MAX}. Half of it is the kernel's, a quarter is one batch, and one batch
 * waits behind another.
 *
 * <p>Confined to the channel's event loop.
 */
final class UnsentBytes {
    static final int MAX = 256 << 10;
    /** Below this, the work for each batch would cost more than its bytes. */
    static final int MIN = 48 << 10;

    private static final long HELD_NANOS = Duration.ofMillis(5).toNanos();
    /** The shortest time over which a rate is measured. */
    private static final long SAMPLE_NANOS = Duration.ofMillis(20).toNanos();
    /** After this time the link has not been full throughout. */
    private static final long IDLE_NANOS = Duration.ofMillis(200).toNanos();

    private int limit = MAX;
    /** Bytes a nanosecond. */
    private double rate;
    private boolean measuring;
    private long sinceNanos;
    private long bytes;

    /** The bytes behind which no frame of a batch begins. */
    int batchBytes() {
        return limit / 4;
    }

    /** Sets the bound of a new connection. */
    void begin(Channel channel) {
        apply(channel);
    }

    /** Bytes were given to the channel. */
    void wrote(int written) {
        bytes += written;
    }

    /** The channel takes no more for now. */
    void full(Channel channel, long nowNanos) {
        long took = nowNanos - sinceNanos;
        if (measuring && took < SAMPLE_NANOS) {
            return;
        }
        if (measuring && took < IDLE_NANOS) {
            // a sender with less to send than the link carries would seem to have a slow link: forget slowly
            rate = Math.max((double) bytes / took, rate * 3 / 4);
            bound(channel, (int) Math.clamp(rate * HELD_NANOS, MIN, MAX));
        }
        measuring = true;
        sinceNanos = nowNanos;
        bytes = 0;
    }

    private void bound(Channel channel, int wanted) {
        boolean atEnd = wanted == MIN || wanted == MAX;
        if (wanted != limit && (atEnd || Math.abs(wanted - limit) > limit / 4)) {
            limit = wanted;
            apply(channel);
        }
    }

    private void apply(Channel channel) {
        channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(limit / 8, limit / 4));
        if (channel instanceof EpollSocketChannel) {
            channel.config().setOption(EpollChannelOption.TCP_NOTSENT_LOWAT, limit / 2L);
        }
    }
}
