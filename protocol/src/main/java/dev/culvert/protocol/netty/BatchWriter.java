package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.session.Session;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Writes a batch as a binary WebSocket message into one buffer (RFC 6455 §5.2). Reserves space for the
 * longest header before the payload and masks the payload in place, eight bytes at a time. Copying or masking
 * into a second buffer would cost a third more CPU for each MiB.
 */
final class BatchWriter {
    private static final int FIN_BINARY = 0x82;
    private static final int MASKED = 0x80;
    /** The size of the longest header: two bytes, 16-bit length, mask. */
    static final int ROOM = 8;
    /** The maximum length that the second byte encodes (RFC 6455 §5.2). */
    private static final int SHORT = 125;

    private final boolean masks;

    BatchWriter(boolean masks) {
        this.masks = masks;
    }

    /**
     * Returns a buffer the caller owns with the next message, or null if no frame waits.
     *
     * @param enough bytes: no frame begins behind them
     */
    @Nullable
    ByteBuf next(Session session, int enough, ByteBufAllocator alloc) {
        ByteBuf out = alloc.directBuffer(ROOM + session.batchBytes(), ROOM + FrameCodec.MAX_BATCH);
        try {
            out.writeZero(ROOM);
            while (out.writerIndex() < ROOM + enough && session.pollFrame(out)) {
                // until no frame waits or fits
            }
        } catch (Throwable e) { // the buffer can't grow: no direct memory
            out.release();
            throw e;
        }
        if (out.writerIndex() == ROOM) {
            out.release();
            return null;
        }
        return framed(out, masks);
    }

    /**
     * Writes the header before the payload, which begins at {@link #ROOM}, and masks the payload. Returns the
     * same buffer.
     */
    static ByteBuf framed(ByteBuf out, boolean masks) {
        int length = out.writerIndex() - ROOM;
        int header = (length <= SHORT ? 2 : 4) + (masks ? 4 : 0);
        int start = ROOM - header;
        out.setByte(start, FIN_BINARY);
        out.setByte(start + 1, (masks ? MASKED : 0) | (length <= SHORT ? length : 126));
        if (length > SHORT) {
            out.setShort(start + 2, length);
        }
        if (masks) {
            // The mask protects caches from scripts in browsers (RFC 6455 §10.3). No browser script controls
            // this traffic, so the mask need not be unpredictable.
            int mask = ThreadLocalRandom.current().nextInt();
            out.setInt(ROOM - 4, mask);
            mask(out, ROOM, length, mask);
        }
        return out.readerIndex(start);
    }

    /** Combines byte i with byte i mod 4 of the mask (RFC 6455 §5.3). */
    static void mask(ByteBuf buffer, int index, int length, int mask) {
        ByteBuffer bytes = buffer.internalNioBuffer(index, length).slice().order(ByteOrder.BIG_ENDIAN);
        long wide = (long) mask << 32 | (mask & 0xffffffffL);
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            bytes.putLong(i, bytes.getLong(i) ^ wide);
        }
        for (; i < length; i++) {
            bytes.put(i, (byte) (bytes.get(i) ^ mask >>> (24 - 8 * (i & 3))));
        }
    }
}
