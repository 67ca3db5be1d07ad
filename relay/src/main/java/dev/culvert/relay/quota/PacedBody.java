package dev.culvert.relay.quota;

import dev.culvert.protocol.body.BodyQueue;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One direction of one exchange whose runtime has a limit of bytes per second: lets pieces through, each when its moment has
 * come, and the end behind them. What waits was not reported as taken, so no more waits than the sender's window holds.
 * Belongs to the connection's event loop.
 */
public final class PacedBody {
    /** Larger pieces are cut, so that streams take turns. */
    private static final int PIECE = 16 << 10;
    private static final int LEAST_PIECE = 512;
    /** Of a second: how long a piece may take at least, so that slow streams move. */
    private static final int PIECES_A_SECOND = 8;

    private final EventLoop loop;
    private final BytePace pace;
    private final LongSupplier bytesPerSecond;
    private final Consumer<ByteBuf> target;
    private final BodyQueue waiting = new BodyQueue();
    private @Nullable Runnable end;
    private boolean over;

    /**
     * @param bytesPerSecond the limit in force; 0: none
     * @param target takes ownership of what it is given
     */
    public PacedBody(EventLoop loop, BytePace pace, LongSupplier bytesPerSecond, Consumer<ByteBuf> target) {
        this.loop = loop;
        this.pace = pace;
        this.bytesPerSecond = bytesPerSecond;
        this.target = target;
    }

    /** Takes ownership of {@code body}. */
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

    /** Runs {@code then} behind all data. */
    public void end(Runnable then) {
        if (!waiting.isEmpty()) {
            end = then;
        } else {
            then.run();
        }
    }

    /** Whether something waits. */
    public boolean isWaiting() {
        return !waiting.isEmpty();
    }

    /** Drops what waits. Nothing leaves any more. */
    public void close() {
        over = true;
        end = null;
        waiting.clear();
    }

    /** Sends pieces until one has to wait, or none is left. */
    private void next() {
        for (ByteBuf body = waiting.peek(); body != null && !over; body = waiting.peek()) {
            long limit = bytesPerSecond.getAsLong();
            long piece = limit == 0 ? PIECE : Math.clamp(limit / PIECES_A_SECOND, LEAST_PIECE, PIECE);
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
