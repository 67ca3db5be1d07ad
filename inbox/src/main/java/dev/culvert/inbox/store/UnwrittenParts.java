package dev.culvert.inbox.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/** Parts of a large body that wait to be written: small ones are merged, so that they cost what they carry. Of one loop. */
public final class UnwrittenParts {
    /** A part below this is copied behind the one before. */
    private static final int SMALL = 4 << 10;
    private static final int CHUNK = 16 << 10;
    /** Of a part that stays as it came: the buffer and its place. */
    private static final int OBJECT = 256;

    private List<ByteBuf> parts = new ArrayList<>();
    /** Whether the last part is this class's own, with room. */
    private boolean open;
    private long cost;

    /** What keeping so many more bytes costs. */
    public long costOf(int bytes) {
        if (bytes >= SMALL) {
            return (long) bytes + OBJECT;
        }
        return open && parts.getLast().writableBytes() >= bytes ? 0 : CHUNK + OBJECT;
    }

    /** Takes ownership. */
    public void add(ByteBuf part) {
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

    public boolean isEmpty() {
        return parts.isEmpty();
    }

    /** What those that wait cost. */
    public long cost() {
        return cost;
    }

    /** All that waits, which the caller owns then. */
    public List<ByteBuf> take() {
        List<ByteBuf> taken = parts;
        parts = new ArrayList<>();
        open = false;
        cost = 0;
        return taken;
    }

    public void release() {
        take().forEach(ByteBuf::release);
    }
}
