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
 * until the caller's socket has accepted it, also after the end of the exchange. A caller that accepts no
 * bytes for too long is cut. Belongs to the connection's event loop, except for the calls of
 * {@link MemoryBudget}.
 */
public final class ResponseBody {
    /** The time for which a caller may accept nothing of a complete response: no upstream waits for it. */
    static final Duration COMPLETE_STALL = Duration.ofMinutes(2);

    private final BodyStream stream;
    private final BudgetedBytes held;
    private final Runnable written;
    private final Runnable tooSlow;
    private @Nullable PacedBody paced;
    private @Nullable Deadline stall;
    /** The bytes that the caller has not accepted, and since when. */
    private final Lag unread;
    private final Runnable flushed = this::awaitTaken;
    private long takenNanos;
    /** The rest was reported as consumed: only its memory is still counted. */
    private boolean settled;
    /** The exchange is over. */
    private boolean over;

    /**
     * @param written runs after each written part
     * @param tooSlow runs when the caller must be cut
     */
    public ResponseBody(BodyStream stream, BudgetedBytes held, Runnable written, Runnable tooSlow) {
        this.stream = stream;
        this.held = held;
        this.written = written;
        this.tooSlow = tooSlow;
        this.unread = Lag.ofReader(stream.loop(), this::passedOn, tooSlow, held);
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
            if (!settled) {
                held.taken(0, bytes);
            }
            if (over && unread.isNone()) {
                forget();
            }
        }
    }

    /**
     * Returns the number of bytes not reported yet, accepted or not. The caller of this method reports them,
     * and no further reports follow.
     */
    public int rest() {
        if (settled) {
            return 0;
        }
        settled = true;
        return held.settleResponse() + stream.rest();
    }

    private void watch() {
        Duration most = stallTimeout();
        if (!most.isZero()) {
            if (stall == null) {
                stall = new Deadline(stream.loop());
            }
            stall.set(most, this::cutIfTooSlow);
        }
    }

    private Duration stallTimeout() {
        Duration most = stream.stallTimeout();
        return over && (most.isZero() || most.compareTo(COMPLETE_STALL) > 0) ? COMPLETE_STALL : most;
    }

    private void cutIfTooSlow() {
        Duration most = stallTimeout();
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
        over = true;
        settled = true;
        if (callerGone || unread.isNone()) {
            forget();
        } else {
            stream.whenFlushed(flushed);
        }
    }

    /** The socket was offered all bytes of a response that is over. */
    private void awaitTaken() {
        passedOn();
        if (!unread.isNone()) {
            held.claim();
            stream.whenWritten(this::forget);
            watch();
        }
    }

    private void forget() {
        if (stall != null) {
            stall.close();
        }
        unread.close();
        held.close();
    }
}
