package dev.culvert.protocol.body;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue of the parts of one body. The sender chooses the size of the parts, and each part costs an object
 * and may retain the whole buffer that it is a slice of. Therefore a part below {@link #SMALL} bytes that
 * waits behind another one is copied into the last buffer. Of two neighbouring parts at least one has that
 * many bytes. Confined to one thread.
 */
public final class BodyQueue {
    /** Parts below this size in bytes are merged: copying them costs about as much as one object. */
    public static final int SMALL = 1 << 10;
    /**
     * The cost of a part in addition to its bytes: its objects, and the rest of the buffer that it is a slice
     * of.
     */
    public static final int PART_BYTES = 256;
    /** The capacity of a buffer of merged parts. */
    static final int MERGED_BYTES = 16 << 10;
    private static final int FIRST_BYTES = 256;

    private final ArrayDeque<ByteBuf> parts = new ArrayDeque<>(2);
    /** The last part, if small parts may be copied into it. */
    private @Nullable ByteBuf tail;

    /** Whether a part that has to wait should be merged. */
    public static boolean isSmall(ByteBuf part) {
        return part.readableBytes() < SMALL;
    }

    /** Takes ownership of {@code part}. */
    public void add(ByteBuf part) {
        int size = part.readableBytes();
        if (size >= SMALL || parts.isEmpty()) {
            tail = null;
            parts.add(part);
            return;
        }
        try {
            ByteBuf to = tail;
            if (to == null || size > to.maxWritableBytes()) {
                to = part.alloc().buffer(FIRST_BYTES, MERGED_BYTES);
                parts.add(to);
                tail = to;
            }
            to.writeBytes(part);
        } finally {
            part.release();
        }
    }

    /**
     * Returns the first part without removing it; null if there is none. The caller may pass slices of it to
     * other threads, because no bytes are appended to it any more.
     */
    public @Nullable ByteBuf peek() {
        if (parts.size() == 1) {
            tail = null; // a growing buffer may be reallocated
        }
        return parts.peek();
    }

    /** Removes the first part and returns a buffer the caller owns; null if there is none. */
    public @Nullable ByteBuf poll() {
        ByteBuf first = parts.poll();
        if (parts.isEmpty()) {
            tail = null;
        }
        return first;
    }

    public boolean isEmpty() {
        return parts.isEmpty();
    }

    /** The number of buffers in the queue. */
    public int size() {
        return parts.size();
    }

    /**
     * Passes each part to {@code reader}, which may keep a retained duplicate. Later additions do not change
     * the duplicate, on any thread.
     */
    public void share(Consumer<ByteBuf> reader) {
        tail = null;
        if (!parts.isEmpty()) {
            new ArrayDeque<>(parts).forEach(reader); // the reader may change this queue
        }
    }

    /** Releases all parts. */
    public void clear() {
        for (ByteBuf part = poll(); part != null; part = poll()) {
            part.release();
        }
    }
}
