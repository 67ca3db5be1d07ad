package dev.culvert.protocol.body;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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
     * of ({@link BodyPart} bounds that).
     */
    public static final int PART_BYTES = 256;
    /** The capacity of a buffer of merged parts. */
    static final int MERGED_BYTES = 16 << 10;
    private static final int FIRST_BYTES = 256;

    /** Most bodies never have a second part that waits. */
    private @Nullable ByteBuf first;
    private @Nullable ArrayDeque<ByteBuf> others;
    /** The last part, if small parts may be copied into it. */
    private @Nullable ByteBuf tail;

    /** Whether a part that has to wait should be merged. */
    public static boolean isSmall(ByteBuf part) {
        return part.readableBytes() < SMALL;
    }

    /** Takes ownership of {@code part}. */
    public void add(ByteBuf part) {
        int size = part.readableBytes();
        if (size >= SMALL || first == null) {
            tail = null;
            append(part);
            return;
        }
        try {
            ByteBuf to = tail;
            if (to == null || size > to.maxWritableBytes()) {
                to = part.alloc().buffer(FIRST_BYTES, MERGED_BYTES);
                append(to);
                tail = to;
            }
            to.writeBytes(part);
        } finally {
            part.release();
        }
    }

    private void append(ByteBuf part) {
        if (first == null) {
            first = part;
            return;
        }
        if (others == null) {
            others = new ArrayDeque<>(4);
        }
        others.add(part);
    }

    /**
     * Returns the first part without removing it; null if there is none. The caller may pass slices of it to
     * other threads, because no bytes are appended to it any more.
     */
    public @Nullable ByteBuf peek() {
        if (size() == 1) {
            tail = null; // a growing buffer may be reallocated
        }
        return first;
    }

    /** Removes the first part and returns a buffer the caller owns; null if there is none. */
    public @Nullable ByteBuf poll() {
        ByteBuf polled = first;
        first = others == null ? null : others.poll();
        if (first == null) {
            tail = null;
        }
        return polled;
    }

    public boolean isEmpty() {
        return first == null;
    }

    /** The number of buffers in the queue. */
    public int size() {
        return (first == null ? 0 : 1) + (others == null ? 0 : others.size());
    }

    /**
     * Passes each part to {@code reader}, which may keep a retained duplicate. Later additions do not change
     * the duplicate, on any thread.
     */
    public void share(Consumer<ByteBuf> reader) {
        tail = null;
        if (first != null) {
            List<ByteBuf> parts = new ArrayList<>(size()); // the reader may change this queue
            parts.add(first);
            if (others != null) {
                parts.addAll(others);
            }
            parts.forEach(reader);
        }
    }

    /** Releases all parts. */
    public void clear() {
        for (ByteBuf part = poll(); part != null; part = poll()) {
            part.release();
        }
    }
}
