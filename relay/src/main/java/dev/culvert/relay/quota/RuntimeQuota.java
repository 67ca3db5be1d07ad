package dev.culvert.relay.quota;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument.Field;
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
 * The limits of one runtime at the edge, and its usage. All event loops use it without a lock. The limits in
 * effect are a snapshot, which is replaced when the runtime's or the server's limits change, so that a change
 * applies to the next request.
 */
public final class RuntimeQuota {
    private static final Duration RETRY_OVERLOADED = Duration.ofSeconds(1);

    private final RuntimeQuotas all;
    private final LongSupplier nanoClock;
    private final MemoryShare memory;
    private final BytePace paceIn;
    private final BytePace paceOut;
    private final RuntimeUsage usage = new RuntimeUsage();
    private final StreamPlaces streams;
    private volatile Snapshot snapshot;

    /** The limits in effect, and the limits from which they derive. */
    private record Snapshot(OwnLimits own, RuntimeLimits usual, RuntimeLimits inForce,
            @Nullable TokenBucket requests) {}

    /** Creates a snapshot. A changed rate starts with a full bucket; an unchanged one keeps its bucket. */
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
        this.paceIn = new BytePace(nanoClock.getAsLong());
        this.paceOut = new BytePace(nanoClock.getAsLong());
        this.streams = new StreamPlaces(all.inForce().with(own).maxStreams(), all.sourceStandings(),
                nanoClock);
        this.memory = new MemoryShare(all.memory(), streams::readsSlowly);
        this.snapshot = snapshot(own, all.inForce(), null);
    }

    /** Replaces the runtime's own limits. */
    void own(OwnLimits own) {
        Snapshot last = snapshot;
        if (!last.own.equals(own)) {
            snapshot = snapshot(own, all.inForce(), last.requests);
        }
    }

    /** Returns the limits in effect now. */
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

    /** Returns the pacer of a request's body; null without a limit of bytes per second. */
    public @Nullable PacedBody pacedRequest(EventLoop loop, Consumer<ByteBuf> target) {
        return paced(loop, paceIn, target);
    }

    /** Returns the pacer of a response's body; null without a limit of bytes per second. */
    public @Nullable PacedBody pacedResponse(EventLoop loop, Consumer<ByteBuf> target) {
        return paced(loop, paceOut, target);
    }

    private @Nullable PacedBody paced(EventLoop loop, BytePace pace, Consumer<ByteBuf> target) {
        return limits().bytesPerSecond() == 0
                ? null
                : new PacedBody(loop, pace, () -> limits().bytesPerSecond(), target);
    }

    /**
     * The places of the runtime's concurrent streams ({@code maxStreams}), shared by the source addresses of
     * its callers.
     */
    public StreamPlaces streams() {
        inForce();
        return streams;
    }

    /** The runtime's share of the process's memory. */
    public MemoryShare memory() {
        return memory;
    }

    /**
     * Admits a request. Refuses it if memory is short, the runtime had too many requests recently, or its
     * body is too long.
     *
     * @param held counts the memory of the request
     * @param bodyBytes the declared length of the body; 0 if none is declared
     * @param response receives the fields that report the remaining requests
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
     * Admits a raw connection, which counts as a request. Refuses it if memory is short or the runtime had
     * too many requests recently.
     *
     * @throws EdgeException with the problem
     */
    public void admitConnection(SourceAddress source) {
        Snapshot now = inForce();
        usage.request();
        memory.budget().asks(source);
        if (memory.isSpent()) {
            memory.makeRoom(source);
        }
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
                "the runtime exceeds its limit of " + limits.requestsPerSecond() + " requests a second")
                .retryAfter(Duration.ofNanos(-left)));
    }

    /** Whether a body of this length so far exceeds the limit. */
    public boolean isTooLong(long bodyBytes) {
        return isTooLong(limits(), bodyBytes);
    }

    private static boolean isTooLong(RuntimeLimits limits, long bodyBytes) {
        return limits.maxBodyBytes() > 0 && bodyBytes > limits.maxBodyBytes();
    }

    /** Counts a refusal for the body's length. Returns its problem. */
    public Problem bodyTooLong() {
        return bodyTooLong(limits());
    }

    private Problem bodyTooLong(RuntimeLimits limits) {
        usage.refused(Refusal.BODY);
        return Problem.of(Cause.BODY_TOO_LARGE, Hop.EDGE,
                "the runtime takes bodies of at most " + limits.maxBodyBytes() + " bytes");
    }
}
