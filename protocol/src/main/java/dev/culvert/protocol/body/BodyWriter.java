package dev.culvert.protocol.body;

import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes one body to its socket. While the socket has not taken earlier parts, small parts are merged before
 * they are written, because each write costs objects in the socket's queue. A part is written at once if no
 * other part waits. Confined to one thread.
 */
public final class BodyWriter {
    private final Consumer<ByteBuf> socket;
    private @Nullable ByteBuf tail;
    /** The number of written parts that the socket has not taken yet. */
    private int underWay;
    private boolean closed;

    /**
     * @param socket writes a part and takes ownership of it; {@link #taken} must be called once for each part
     */
    public BodyWriter(Consumer<ByteBuf> socket) {
        this.socket = socket;
    }

    /** Takes ownership of {@code part}. */
    public void data(ByteBuf part) {
        if (closed) {
            part.release();
        } else if (underWay == 0 && tail == null || !BodyQueue.isSmall(part)) {
            flush();
            write(part);
        } else {
            merge(part);
        }
    }

    private void merge(ByteBuf part) {
        ByteBuf to = tail;
        if (to != null && part.readableBytes() > to.maxWritableBytes()) {
            flush();
            to = null;
        }
        try {
            if (to == null) {
                to = part.alloc()
                        .buffer(Math.max(part.readableBytes(), BodyQueue.SMALL / 4), BodyQueue.MERGED_BYTES);
                tail = to;
            }
            to.writeBytes(part);
        } finally {
            part.release();
        }
    }

    private void write(ByteBuf part) {
        underWay++;
        socket.accept(part);
    }

    /** Records that the socket has taken a part or will never take it. */
    public void taken() {
        underWay--;
        if (underWay == 0) {
            flush();
        }
    }

    /** Writes the waiting parts. Called before anything other than body bytes is written. */
    public void flush() {
        ByteBuf last = tail;
        if (last != null) {
            tail = null;
            write(last);
        }
    }

    /** The number of waiting bytes. */
    public int waitingBytes() {
        ByteBuf last = tail;
        return last == null ? 0 : last.readableBytes();
    }

    /** Removes the waiting bytes and returns a buffer the caller owns; null if there are none. */
    public @Nullable ByteBuf takeBack() {
        ByteBuf last = tail;
        tail = null;
        return last;
    }

    /** Releases the waiting parts and all later ones. */
    public void close() {
        closed = true;
        ByteBuf last = takeBack();
        if (last != null) {
            last.release();
        }
    }
}
