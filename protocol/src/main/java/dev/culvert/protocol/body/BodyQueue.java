package dev.culvert.protocol.body;

import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Parts of one body, in order. The sender chooses how small its parts are, and each costs an object and perhaps the whole
 * buffer that it is a slice of: so a part below {@link #SMALL} bytes that has to wait behind another one is copied into the
 * last buffer. Of two neighbours one holds at least that many bytes. Belongs to one thread.
 */
public final class BodyQueue {
    /** Parts below this are merged: copying that much costs about as much as an object. */
    public static final int SMALL = 1 << 10;
    /** What a part costs beside its bytes: its objects, and the rest of the buffer that it is a slice of. */
    public static final int PART_BYTES = 256;
    /** What one buffer of merged parts holds at most. */
    static final int MERGED_BYTES = 16 << 10;
    private static final int FIRST_BYTES = 256;

    private final ArrayDeque<ByteBuf> parts = new ArrayDeque<>(2);
    /** The last part, if small ones may be copied into it. */
    private @Nullable ByteBuf tail;

    /** Whether a part that has to wait is to be merged. */
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
     * The first part, which stays here; null if there is none. The caller may pass slices of it to other threads: nothing is
     * added to it any more.
     */
    public @Nullable ByteBuf peek() {
        if (parts.size() == 1) {
            tail = null; // of one that grows the memory moves
        }
        return parts.peek();
    }

    /** The first part, which is the caller's from now on; null if there is none. */
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

    /** How many buffers are held. */
    public int size() {
        return parts.size();
    }

    /**
     * Shows each part, of which {@code reader} may keep a retained duplicate: what is added later does not change it, whatever
     * thread reads it.
     */
    public void share(Consumer<ByteBuf> reader) {
        tail = null;
        if (!parts.isEmpty()) {
            new ArrayDeque<>(parts).forEach(reader); // which may change this queue
        }
    }

    /** Releases all parts. */
    public void clear() {
        for (ByteBuf part = poll(); part != null; part = poll()) {
            part.release();
        }
    }
}
