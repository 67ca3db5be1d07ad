package dev.culvert.relay.exchange;

import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.quota.BudgetedBytes;
import dev.culvert.relay.quota.Lag;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.PacedBody;
import dev.culvert.relay.quota.RuntimeQuota;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The body of one response on its way to the caller. It is paced if its runtime has a limit, and counted
 * until the caller's socket has accepted it. A caller that accepts no bytes for too long is cut. Belongs to
 * the connection's event loop, except for the calls of {@link MemoryBudget}.
 */
public final class ResponseBody {
    private final BodyStream stream;
    private final BudgetedBytes held;
    private final Runnable written;
    private final Runnable tooSlow;
    private @Nullable PacedBody paced;
    private @Nullable Deadline stall;
    /** The bytes that the caller has not accepted, and since when. */
    private final Lag unread;
    private long takenNanos;

    /**
     * @param written runs after each written part
     * @param tooSlow runs when the caller must be cut
     */
    public ResponseBody(BodyStream stream, BudgetedBytes held, Runnable written, Runnable tooSlow) {
        this.stream = stream;
        this.held = held;
        this.written = written;
        this.tooSlow = tooSlow;
        this.unread = new Lag(stream.loop(), this::passedOn, tooSlow);
    }

    /** Writes a part of the body. Takes ownership of {@code body}. */
    public void data(ByteBuf body, RuntimeQuota quota) {
        int bytes = body.readableBytes();
        held.take(bytes);
        quota.usage().out(bytes);
        PacedBody pace = paced;
        if (pace == null) {
            pace = quota.pacedResponse(stream.loop(), part -> write(part, quota));
            paced = pace;
        }
        if (pace == null) {
            write(body, quota);
        } else {
            pace.data(body);
        }
    }

    /** Runs {@code then} after the last part. */
    public void end(Runnable then) {
        PacedBody pace = paced;
        if (pace == null) {
            then.run();
        } else {
            pace.end(then);
        }
    }

    /** Whether parts wait for their pace. */
    boolean isWaiting() {
        PacedBody pace = paced;
        return pace != null && pace.isWaiting();
    }

    private void write(ByteBuf body, RuntimeQuota quota) {
        if (unread.isNone()) {
            takenNanos = System.nanoTime();
            watch();
        }
        unread.waits(body.readableBytes(), quota.memory());
        stream.data(body);
        written.run();
    }

    /**
     * Reports the bytes that the caller's socket has accepted. While memory is short, the report is delayed.
     */
    public void passedOn() {
        int bytes = stream.passedOn();
        if (bytes > 0) {
            held.give(bytes);
            unread.taken(bytes);
            takenNanos = System.nanoTime();
            held.taken(0, bytes);
        }
    }

    /**
     * Returns the number of bytes not reported yet, accepted or not. The caller of this method reports them.
     */
    public int rest() {
        return held.settleResponse() + stream.rest();
    }

    private void watch() {
        Duration most = stream.stallTimeout();
        if (!most.isZero()) {
            if (stall == null) {
                stall = new Deadline(stream.loop());
            }
            stall.set(most, this::cutIfTooSlow);
        }
    }

    private void cutIfTooSlow() {
        Duration most = stream.stallTimeout();
        passedOn();
        long waited = System.nanoTime() - takenNanos;
        if (unread.isNone()) {
            return;
        }
        if (waited >= most.toNanos()) {
            tooSlow.run();
        } else if (stall != null) {
            stall.set(most.minusNanos(waited), this::cutIfTooSlow);
        }
    }

    /** Drops the bytes that wait for their pace. */
    void drop() {
        PacedBody pace = paced;
        if (pace != null) {
            pace.close();
        }
    }

    /**
     * The exchange is over. Bytes that the caller has not accepted stay counted, unless the caller is gone.
     */
    public void close(boolean callerGone) {
        drop();
        if (stall != null) {
            stall.close();
        }
        if (callerGone || !unread.isRegistered()) {
            forget();
        } else {
            stream.whenWritten(this::forget);
        }
    }

    private void forget() {
        unread.close();
        held.close();
    }
}
