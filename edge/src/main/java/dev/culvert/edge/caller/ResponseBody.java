package dev.culvert.edge.caller;

import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The body of one response on its way to the caller: paced where its runtime has a limit, counted until the caller's socket
 * has taken it, and its caller cut who takes nothing for too long. On the connection's event loop, but for what {@link
 * MemoryBudget} asks.
 */
final class ResponseBody {
    /** How long a caller may take nothing while the memory budget is spent. */
    static final Duration STALLED = Duration.ofSeconds(5);
    /** A caller for whom so much waits is one of those that are cut first. */
    private static final int LAGGING = 32 << 10;

    private final BodyStream stream;
    private final HeldBytes held;
    private final Runnable written;
    private final Runnable tooSlow;
    private @Nullable PacedBody paced;
    private @Nullable Deadline stall;
    private @Nullable MemoryBudget lagsAt;
    /** Read by other threads: what the caller has not taken, and when it took some. */
    private volatile int unread;
    private volatile long takenNanos;

    /**
     * @param written runs behind each part that was written
     * @param tooSlow runs when the caller is to be cut
     */
    ResponseBody(BodyStream stream, HeldBytes held, Runnable written, Runnable tooSlow) {
        this.stream = stream;
        this.held = held;
        this.written = written;
        this.tooSlow = tooSlow;
    }

    EventLoop loop() {
        return stream.loop();
    }

    /** Takes ownership of {@code body}. */
    void data(ByteBuf body, RuntimeQuota quota) {
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

    /** Runs {@code then} behind the last part. */
    void end(Runnable then) {
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
        if (unread == 0) {
            takenNanos = System.nanoTime();
            watch();
        }
        unread(body.readableBytes());
        if (lagsAt == null && unread >= LAGGING) {
            MemoryBudget budget = quota.memory().budget();
            lagsAt = budget;
            budget.lags(this);
        }
        stream.data(body);
        written.run();
    }

    /** Reports what the caller's socket has taken, or lets that wait while memory is short. */
    void passedOn() {
        int bytes = stream.passedOn();
        if (bytes > 0) {
            held.give(bytes);
            unread(-bytes);
            takenNanos = System.nanoTime();
            held.taken(0, bytes);
        }
    }

    /** All bytes that were not reported, taken or not; the caller reports them. */
    int rest() {
        return held.settleResponse() + stream.rest();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written on the event loop alone
    private void unread(int bytes) {
        unread += bytes;
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
        long waited = stalledNanos(System.nanoTime());
        if (unread > 0 && waited >= most.toNanos()) {
            tooSlow.run();
        } else if (unread > 0 && stall != null) {
            stall.set(most.minusNanos(waited), this::cutIfTooSlow);
        }
    }

    /** The bytes that the caller has not taken. On any thread. */
    int unreadBytes() {
        return unread;
    }

    /** How long the caller has taken nothing, though it could. On any thread. */
    long stalledNanos(long now) {
        return unread == 0 ? 0 : now - takenNanos;
    }

    /** Memory is short: drops a caller that still takes nothing. */
    void cutIfStalled() {
        if (lagsAt != null) {
            passedOn();
            if (stalledNanos(System.nanoTime()) >= STALLED.toNanos()) {
                tooSlow.run();
            }
        }
    }

    /** Drops what waits for its pace. */
    void drop() {
        PacedBody pace = paced;
        if (pace != null) {
            pace.close();
        }
    }

    /** The exchange is over. What the caller has not taken is still held, unless the caller is gone. */
    void close(boolean callerGone) {
        drop();
        if (stall != null) {
            stall.close();
        }
        if (callerGone || lagsAt == null) {
            forget();
        } else {
            stream.whenWritten(this::forget);
        }
    }

    private void forget() {
        MemoryBudget budget = lagsAt;
        if (budget != null) {
            lagsAt = null;
            budget.lagsNoLonger(this);
        }
        held.close();
    }
}
