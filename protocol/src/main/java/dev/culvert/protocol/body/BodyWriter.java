package dev.culvert.protocol.body;

import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stands between one body and its socket: while the socket has not taken what was written, small parts are merged here
 * before they are written too, since each write costs the socket's queue some objects. A part that nothing stands before
 * passes at once. Belongs to one thread.
 */
public final class BodyWriter {
    private final Consumer<ByteBuf> socket;
    private @Nullable ByteBuf tail;
    /** Parts written, and not taken yet. */
    private int underWay;
    private boolean closed;

    /** @param socket writes a part, of which it takes ownership; {@link #taken} must follow once for each */
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

    /** The socket has taken a part, or never will. */
    public void taken() {
        underWay--;
        if (underWay == 0) {
            flush();
        }
    }

    /** Writes what waits here: something else than body bytes is to be written behind it. */
    public void flush() {
        ByteBuf last = tail;
        if (last != null) {
            tail = null;
            write(last);
        }
    }

    /** The bytes that wait here. */
    public int waitingBytes() {
        ByteBuf last = tail;
        return last == null ? 0 : last.readableBytes();
    }

    /** What waits here, which is the caller's from now on; null if nothing does. */
    public @Nullable ByteBuf takeBack() {
        ByteBuf last = tail;
        tail = null;
        return last;
    }

    /** Drops what waits, and what still comes. */
    public void close() {
        closed = true;
        ByteBuf last = takeBack();
        if (last != null) {
            last.release();
        }
    }
}
