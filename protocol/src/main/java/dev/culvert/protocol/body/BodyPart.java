package dev.culvert.protocol.body;

import io.netty.buffer.ByteBuf;

/**
 * Takes parts of bodies out of the buffers that they arrived in. A slice keeps its whole buffer in memory,
 * and the sender chooses what else is in it; so a small part of a large buffer is copied.
 */
public final class BodyPart {
    /** The capacity in bytes up to which a buffer is kept for a small part of it. */
    static final int MAX_KEPT = 4 << 10;

    private BodyPart() {}

    /** Reads {@code length} bytes of {@code in}, which stays the caller's, into a buffer the caller owns. */
    public static ByteBuf read(ByteBuf in, int length) {
        if (isCopied(in, length)) {
            return in.alloc().buffer(length, length).writeBytes(in, length);
        }
        return in.readRetainedSlice(length);
    }

    /** Returns a buffer the caller owns with the bytes of {@code part}, which stays the caller's. */
    public static ByteBuf keep(ByteBuf part) {
        int length = part.readableBytes();
        return isCopied(part, length)
                ? part.alloc().buffer(length, length).writeBytes(part, part.readerIndex(), length)
                : part.retain();
    }

    private static boolean isCopied(ByteBuf part, int length) {
        if (length == 0 || length >= BodyQueue.SMALL) {
            return false;
        }
        ByteBuf whole = part;
        for (ByteBuf next = part.unwrap(); next != null; next = next.unwrap()) {
            whole = next;
        }
        return whole.capacity() > MAX_KEPT;
    }
}
