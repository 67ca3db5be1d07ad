package dev.culvert.inbox.intake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/**
 * Queues the parts of a large body until they are written. Small parts are merged, so that their memory
 * matches their length. Belongs to one event loop.
 */
final class UnwrittenParts {
    /** The length below which a part is copied behind the previous one. */
    private static final int SMALL = 4 << 10;
    private static final int CHUNK = 16 << 10;
    /** The overhead of a part that is not copied: its buffer and its place in the list. */
    private static final int OBJECT = 256;

    private List<ByteBuf> parts = new ArrayList<>();
    /** Whether the last part is a merge buffer with free space. */
    private boolean open;
    private long cost;

    /** Returns the memory cost of queueing {@code bytes} more bytes. */
    long costOf(int bytes) {
        if (bytes >= SMALL) {
            return (long) bytes + OBJECT;
        }
        return open && parts.getLast().writableBytes() >= bytes ? 0 : CHUNK + OBJECT;
    }

    /** Queues a part and takes ownership of it. */
    void add(ByteBuf part) {
        int bytes = part.readableBytes();
        cost += costOf(bytes);
        if (bytes >= SMALL) {
            parts.add(part);
            open = false;
            return;
        }
        if (!open || parts.getLast().writableBytes() < bytes) {
            parts.add(Unpooled.buffer(CHUNK, CHUNK));
            open = true;
        }
        parts.getLast().writeBytes(part);
        part.release();
    }

    boolean isEmpty() {
        return parts.isEmpty();
    }

    /** The memory cost of the queued parts. */
    long cost() {
        return cost;
    }

    /** Removes and returns all queued parts. The caller owns them. */
    List<ByteBuf> take() {
        List<ByteBuf> taken = parts;
        parts = new ArrayList<>();
        open = false;
        cost = 0;
        return taken;
    }

    void release() {
        take().forEach(ByteBuf::release);
    }
}
