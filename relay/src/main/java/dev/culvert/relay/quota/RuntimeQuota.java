package dev.culvert.relay.quota;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument.Field;
import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.quota.RuntimeUsage.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What one runtime may use of the edge, and uses. Used by all event loops, without a lock: the limits in force are a
 * snapshot, made anew when those of the runtime or of the server have changed, so that a change holds for the next request.
 */
public final class RuntimeQuota {
    private static final Duration RETRY_OVERLOADED = Duration.ofSeconds(1);

    private final RuntimeQuotas all;
    private final LongSupplier nanoClock;
    private final MemoryShare memory;
    private final BytePace paceIn;
    private final BytePace paceOut;
    private final RuntimeUsage usage = new RuntimeUsage();
    private final Quota<SourceAddress> streams;
    private volatile Snapshot snapshot;

    /** The limits in force, and what they were made of. */
    private record Snapshot(OwnLimits own, RuntimeLimits usual, RuntimeLimits inForce,
            @Nullable TokenBucket requests) {}

    /** Another rate begins with a full bucket; the same one goes on with what is left. */
    private Snapshot snapshot(OwnLimits own, RuntimeLimits usual, @Nullable TokenBucket before) {
        RuntimeLimits inForce = usual.with(own);
        streams.resize(inForce.maxStreams());
        int rate = inForce.requestsPerSecond();
        int burst = inForce.requestBurst();
        TokenBucket requests = before != null && before.isOf(rate, burst)
                ? before
                : rate == 0 ? null : new TokenBucket(rate, burst, nanoClock.getAsLong());
        return new Snapshot(own, usual, inForce, requests);
    }

    RuntimeQuota(RuntimeQuotas all, OwnLimits own, LongSupplier nanoClock) {
        this.all = all;
        this.nanoClock = nanoClock;
        this.memory = new MemoryShare(all.memory());
        this.paceIn = new BytePace(nanoClock.getAsLong());
        this.paceOut = new BytePace(nanoClock.getAsLong());
        this.streams = new Quota<>(all.inForce().with(own).maxStreams());
        this.snapshot = snapshot(own, all.inForce(), null);
    }

    /** The runtime's own limits are these now. */
    void own(OwnLimits own) {
        Snapshot last = snapshot;
        if (!last.own.equals(own)) {
            snapshot = snapshot(own, all.inForce(), last.requests);
        }
    }

    /** The limits in force now. */
    public RuntimeLimits limits() {
        return inForce().inForce;
    }

    private Snapshot inForce() {
        Snapshot last = snapshot;
        RuntimeLimits usual = all.inForce();
        if (!last.usual.equals(usual)) {
            last = snapshot(last.own, usual, last.requests);
            snapshot = last;
        }
        return last;
    }

    public RuntimeUsage usage() {
        return usage;
    }

    /** What paces a request's body; null while there is no limit of bytes per second. */
    public @Nullable PacedBody pacedRequest(EventLoop loop, Consumer<ByteBuf> target) {
        return paced(loop, paceIn, target);
    }

    /** What paces a response's body; null while there is no limit of bytes per second. */
    public @Nullable PacedBody pacedResponse(EventLoop loop, Consumer<ByteBuf> target) {
        return paced(loop, paceOut, target);
    }

    private @Nullable PacedBody paced(EventLoop loop, BytePace pace, Consumer<ByteBuf> target) {
        return limits().bytesPerSecond() == 0
                ? null
                : new PacedBody(loop, pace, () -> limits().bytesPerSecond(), target);
    }

    /** Its concurrent streams, shared by the addresses of its callers: the places of {@code maxStreams}. */
    public Quota<SourceAddress> streams() {
        inForce();
        return streams;
    }

    /** What it holds of the process's memory. */
    public MemoryShare memory() {
        return memory;
    }

    /**
     * Lets a request in, unless memory is short, the runtime has had too many of late, or its body is too long.
     *
     * @param held what counts what the request holds
     * @param bodyBytes as its head says; 0 when it says nothing
     * @param response takes the fields that tell what is left
     * @throws EdgeException with the problem
     */
    public void admit(BudgetedBytes held, long bodyBytes, Consumer<List<Field>> response) {
        Snapshot now = inForce();
        RuntimeLimits limits = now.inForce;
        usage.request();
        requireMemory(held.mayBegin());
        if (now.requests != null) {
            takeToken(now.requests, limits, response);
        }
        if (isTooLong(limits, bodyBytes)) {
            throw new EdgeException(bodyTooLong(limits));
        }
    }

    /**
     * Lets a raw connection in, which counts as a request, unless memory is short or the runtime has had too many of late.
     *
     * @throws EdgeException with the problem
     */
    public void admitConnection(SourceAddress source) {
        Snapshot now = inForce();
        usage.request();
        memory.budget().asks(source);
        requireMemory(!memory.isSpentFor(source));
        if (now.requests != null) {
            takeToken(now.requests, now.inForce, fields -> {});
        }
    }

    private void requireMemory(boolean isThere) {
        if (!isThere) {
            usage.refused(Refusal.MEMORY);
            throw new EdgeException(Problem.of(Cause.OVERLOADED, Hop.EDGE,
                    "too many bytes wait in the gateway").retryAfter(RETRY_OVERLOADED));
        }
    }

    private void takeToken(TokenBucket requests, RuntimeLimits limits, Consumer<List<Field>> carrier) {
        long now = nanoClock.getAsLong();
        long left = requests.take(now);
        if (left >= 0) {
            carrier.accept(RateLimitFields.of(limits, left, requests.nanosToFull(now)));
            return;
        }
        carrier.accept(RateLimitFields.of(limits, 0, -left));
        usage.refused(Refusal.RATE);
        throw new EdgeException(Problem.of(Cause.RATE_LIMITED, Hop.EDGE,
                "the runtime gets more than its " + limits.requestsPerSecond() + " requests a second")
                .retryAfter(Duration.ofNanos(-left)));
    }

    /** Whether a body that is so long already is too long. */
    public boolean isTooLong(long bodyBytes) {
        return isTooLong(limits(), bodyBytes);
    }

    private static boolean isTooLong(RuntimeLimits limits, long bodyBytes) {
        return limits.maxBodyBytes() > 0 && bodyBytes > limits.maxBodyBytes();
    }

    /** Counts a refusal. */
    public Problem bodyTooLong() {
        return bodyTooLong(limits());
    }

    private Problem bodyTooLong(RuntimeLimits limits) {
        usage.refused(Refusal.BODY);
        return Problem.of(Cause.BODY_TOO_LARGE, Hop.EDGE,
                "the runtime takes bodies of at most " + limits.maxBodyBytes() + " bytes");
    }
}
