package dev.culvert.relay;

import dev.culvert.protocol.body.BodyQueue;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins small parts of one body that arrive in one pass of an event loop while earlier ones are still in
 * flight, because each later step costs as much for a small part as for a large one. No part is held longer
 * than the pass. Belongs to the loop.
 */
public final class SmallParts {
    private static final int FIRST_BYTES = 256;
    private static final int MAX_BYTES = 16 << 10;

    private final EventLoop loop;
    private final Consumer<ByteBuf> target;
    private @Nullable ByteBuf joined;
    /** Whether {@link #flush} will run at the end of this pass. */
    private boolean scheduled;
    private boolean closed;

    /** @param target receives the parts and takes ownership of them */
    public SmallParts(EventLoop loop, Consumer<ByteBuf> target) {
        this.loop = loop;
        this.target = target;
    }

    /**
     * Receives a part and takes ownership of it.
     *
     * @param mayWait whether earlier parts are in flight, so that joining delays no receiver
     */
    public void data(ByteBuf part, boolean mayWait) {
        if (closed) {
            part.release();
        } else if (joined == null && !mayWait || !BodyQueue.isSmall(part)) {
            flush();
            target.accept(part);
        } else {
            join(part);
        }
    }

    private void join(ByteBuf part) {
        ByteBuf to = joined;
        if (to != null && part.readableBytes() > to.maxWritableBytes()) {
            flush();
            to = null;
        }
        if (closed) {
            part.release();
            return;
        }
        try {
            if (to == null) {
                to = part.alloc().buffer(Math.max(FIRST_BYTES, part.readableBytes()), MAX_BYTES);
                joined = to;
            }
            to.writeBytes(part);
        } finally {
            part.release();
        }
        if (!scheduled) {
            scheduled = true;
            loop.execute(() -> {
                scheduled = false;
                flush();
            });
        }
    }

    /** Passes on the joined parts, before the end of the body or at the end of the pass. */
    public void flush() {
        ByteBuf last = joined;
        if (last != null) {
            joined = null;
            target.accept(last);
        }
    }

    /** Drops the joined parts and all later ones. */
    public void close() {
        closed = true;
        ByteBuf last = joined;
        if (last != null) {
            joined = null;
            last.release();
        }
    }
}
