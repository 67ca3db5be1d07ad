package dev.culvert.relay.listen;

import io.netty.channel.Channel;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * How much a pass of an event loop reads of one connection: one read, of as many bytes as hold {@link #PARTS} parts of what this
 * connection sends, 64 KiB at most. So a peer that cuts its bytes into the smallest frames gets no more of the loop than
 * one whose frames are large. One for each connection; used by its event loop alone.
 */
public final class ReadSize extends DefaultMaxMessagesRecvByteBufAllocator {
    /** Parts that a pass is meant to handle. */
    static final int PARTS = 128;
    /** What a head costs, in parts. */
    public static final int HEAD = 16;
    static final int MIN_BYTES = 1 << 10;
    static final int MAX_BYTES = 64 << 10;
    private static final int FIRST_BYTES = 2 << 10;
    /** Reads that the density of parts is the mean of: TLS hands on a record's parts at its end. */
    private static final int MEMORY = 16;

    private double meanBytes = 1;
    private double meanParts;
    private int parts;
    private int size = FIRST_BYTES;

    ReadSize() {
        super(1);
    }

    /** That of a connection; null: its listener has none. */
    public static @Nullable ReadSize of(Channel channel) {
        return channel.config().getRecvByteBufAllocator() instanceof ReadSize size ? size : null;
    }

    /** The present read brought a part, which costs as much as {@code cost} pieces of a body. */
    public void part(int cost) {
        parts += cost;
    }

    @Override
    @SuppressWarnings("deprecation") // the type, in favour of one that extends it and is not the method's
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

    /** A read is over, and what it brought has been handled. */
    void read(int bytes) {
        if (bytes > 0) {
            meanBytes += (bytes - meanBytes) / MEMORY;
            meanParts += (parts - meanParts) / MEMORY;
            parts = 0;
            double affordable = meanParts == 0 ? MAX_BYTES : PARTS * meanBytes / meanParts;
            size = (int) Math.clamp(Math.min(affordable, 2.0 * bytes), MIN_BYTES, MAX_BYTES);
        }
    }

    /** Bytes of the next read, at most. */
    int next() {
        return size;
    }
}
