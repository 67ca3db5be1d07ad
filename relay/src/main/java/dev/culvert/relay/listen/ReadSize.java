package dev.culvert.relay.listen;

import io.netty.channel.Channel;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * Limits the bytes that an event loop reads from one connection in a pass. Each pass makes one read, sized to
 * hold about {@link #PARTS} parts (frames or chunks) of this connection, 64 KiB at most. A peer that cuts its
 * bytes into the smallest frames therefore gets no more of the loop than a peer with large frames. One for
 * each connection; only its event loop uses it.
 */
public final class ReadSize extends DefaultMaxMessagesRecvByteBufAllocator {
    /** The number of parts that a pass should handle. */
    static final int PARTS = 128;
    /** The cost of a head, in parts. */
    public static final int HEAD = 16;
    static final int MIN_BYTES = 1 << 10;
    static final int MAX_BYTES = 64 << 10;
    private static final int FIRST_BYTES = 2 << 10;
    /**
     * The number of reads over which the part density is averaged: TLS passes on the parts of a record at its
     * end.
     */
    private static final int MEMORY = 16;

    private double meanBytes = 1;
    private double meanParts;
    private int parts;
    private int size = FIRST_BYTES;

    ReadSize() {
        super(1);
    }

    /** Returns the instance of a connection; null: its listener has none. */
    public static @Nullable ReadSize of(Channel channel) {
        return channel.config().getRecvByteBufAllocator() instanceof ReadSize size ? size : null;
    }

    /** Records a part of the present read. It costs as much as {@code cost} pieces of a body. */
    public void part(int cost) {
        parts += cost;
    }

    @Override
    // the type is deprecated in favour of a subtype that this method does not return
    @SuppressWarnings("deprecation")
    public Handle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public int guess() {
                return size;
            }

            @Override
            public void readComplete() {
                read(lastBytesRead());
            }
        };
    }

    /** Called when a read is over and its parts have been handled. */
    void read(int bytes) {
        if (bytes > 0) {
            meanBytes += (bytes - meanBytes) / MEMORY;
            meanParts += (parts - meanParts) / MEMORY;
            parts = 0;
            double affordable = meanParts == 0 ? MAX_BYTES : PARTS * meanBytes / meanParts;
            size = (int) Math.clamp(Math.min(affordable, 2.0 * bytes), MIN_BYTES, MAX_BYTES);
        }
    }

    /** Returns the maximum number of bytes of the next read. */
    int next() {
        return size;
    }
}
