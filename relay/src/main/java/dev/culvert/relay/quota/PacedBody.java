package dev.culvert.relay.quota;

import dev.culvert.protocol.body.BodyQueue;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One direction of one exchange whose runtime has a limit of bytes per second. Passes each piece on at its
 * assigned time, and the end after them. Waiting bytes are not reported as consumed, so the sender's window
 * bounds them. Belongs to the connection's event loop.
 */
public final class PacedBody {
    /** The maximum length of a piece. Larger ones are split, so that streams take turns. */
    private static final int PIECE = 16 << 10;
    private static final int MIN_PIECE = 512;
    /** A piece takes at least one part in this many of a second, so that slow streams progress. */
    private static final int PIECES_A_SECOND = 8;

    private final EventLoop loop;
    private final BytePace pace;
    private final LongSupplier bytesPerSecond;
    private final Consumer<ByteBuf> target;
    private final BodyQueue waiting = new BodyQueue();
    private @Nullable Runnable end;
    private boolean over;

    /**
     * @param bytesPerSecond the limit in effect; 0: none
     * @param target receives the pieces and takes ownership of them
     */
    public PacedBody(EventLoop loop, BytePace pace, LongSupplier bytesPerSecond, Consumer<ByteBuf> target) {
        this.loop = loop;
        this.pace = pace;
        this.bytesPerSecond = bytesPerSecond;
        this.target = target;
    }

    /** Passes a part on at its time. Takes ownership of {@code body}. */
    public void data(ByteBuf body) {
        if (over) {
            body.release();
        } else if (waiting.isEmpty() && bytesPerSecond.getAsLong() == 0) {
            target.accept(body);
        } else {
            boolean first = waiting.isEmpty();
            waiting.add(body);
            if (first) {
                next();
            }
        }
    }

    /** Runs {@code then} after all data. */
    public void end(Runnable then) {
        if (!waiting.isEmpty()) {
            end = then;
        } else {
            then.run();
        }
    }

    /** Whether pieces wait. */
    public boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /** Drops the waiting pieces and all later ones. */
    public void close() {
        over = true;
        end = null;
        waiting.clear();
    }

    /** Sends pieces until one must wait, or none is left. */
    private void next() {
        for (ByteBuf body = waiting.peek(); body != null && !over; body = waiting.peek()) {
            long limit = bytesPerSecond.getAsLong();
            long piece = limit == 0 ? PIECE : Math.clamp(limit / PIECES_A_SECOND, MIN_PIECE, PIECE);
            int bytes = (int) Math.min(piece, body.readableBytes());
            long wait = limit == 0 ? 0 : pace.next(bytes, limit, System.nanoTime());
            if (wait > 0) {
                loop.schedule(() -> {
                    pass(bytes);
                    next();
                }, wait, TimeUnit.NANOSECONDS);
                return;
            }
            pass(bytes);
        }
        Runnable last = end;
        end = null;
        if (last != null && !over) {
            last.run();
        }
    }

    private void pass(int bytes) {
        ByteBuf body = waiting.peek();
        if (body == null || over) {
            return;
        }
        if (body.readableBytes() == bytes) {
            waiting.poll();
            target.accept(body);
        } else {
            target.accept(body.readRetainedSlice(bytes));
        }
    }
}
