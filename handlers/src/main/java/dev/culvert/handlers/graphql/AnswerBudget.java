package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.Quota;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The memory of one answer, counted for its caller while the answer is made and until the socket has taken
 * it. What is beyond a bound ends the whole document: a part of an answer has no use. When other callers need
 * the memory, the newest answer of the heaviest caller gives way. Counts the root fields of a caller, too: so
 * the documents of one do not fill the calls and queues of a handler. Safe for use by any thread.
 */
final class AnswerBudget implements AutoCloseable {
    /**
     * What an answer may hold once it has begun. So the answer of a mutation, which is small, is refused
     * before anything is changed and not afterwards.
     */
    static final int SMALL_BYTES = 8 << 10;

    private static final int STEP_BYTES = 16 << 10;
    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(1);

    private final Quota<Object> memory;
    private final Quota<Object>.Claim claim;
    private final Quota<Object>.Claim fields;
    private final GraphQlLimits limits;
    private final AtomicLong kept = new AtomicLong();
    /** What fields have loaded whose values are not complete. */
    private final AtomicLong loading = new AtomicLong();
    private final AtomicReference<Quota<Object>.@Nullable Claim> stream = new AtomicReference<>();
    /** The claimed bytes that the answer does not use yet. */
    private final AtomicLong spare = new AtomicLong();
    private final AtomicReference<@Nullable HandlerException> refusal = new AtomicReference<>();
    private final Sinks.Empty<Void> refused = Sinks.empty();
    private volatile boolean sent;

    /**
     * @param memory what all callers share; one may use at most half of it
     * @param fields counts the root fields that are being called
     */
    AnswerBudget(Quota<Object> memory, Quota<Object> fields, Object account, GraphQlLimits limits) {
        this.memory = memory;
        this.limits = limits;
        this.claim = memory.open(account, () -> refuse(full()));
        this.fields = fields.open(account, null);
    }

    /** Counts a small answer with this number of root fields. Throws HandlerException OVERLOADED. */
    void begin(int rootFields) {
        fields.take(rootFields);
        if (fields.heldByAccount() > limits.maxCallerFields()) {
            throw refuse(HandlerException.of(Reason.OVERLOADED,
                    "your documents call more than " + limits.maxCallerFields() + " root fields at a time")
                    .retryAfter(RETRY_WHEN_FULL));
        }
        take(SMALL_BYTES);
        spare.addAndGet(SMALL_BYTES);
    }

    /** Counts bytes of the answer. Throws HandlerException OVERLOADED, or BODY_TOO_LARGE. */
    void keep(long bytes) {
        if (kept.addAndGet(bytes) > limits.maxAnswerBytes()) {
            throw refuse(HandlerException.of(Reason.BODY_TOO_LARGE, "the answer takes more than "
                    + limits.maxAnswerBytes()
                    + " bytes while it is made: select fewer fields or smaller pages, or several documents"));
        }
        long missing = -spare.addAndGet(-bytes);
        if (missing > 0) {
            long step = Math.max(STEP_BYTES, missing);
            take(step);
            spare.addAndGet(step);
        }
    }

    /** Counts bytes that a field needs until its value is complete. Throws HandlerException OVERLOADED. */
    void load(long bytes) {
        take(bytes);
        loading.addAndGet(bytes);
    }

    /** Returns bytes of {@link #load}. */
    void loaded(long bytes) {
        loading.addAndGet(-bytes);
        claim.give(bytes);
    }

    /** The answer is {@code bytes} of JSON from now on; the values that it was made of are garbage. */
    void rendered(long bytes) {
        fields.close();
        spare.set(0);
        claim.give(Math.max(0, claim.held() - loading.get() - bytes));
    }

    /** The caller's account. */
    Object account() {
        return claim.account();
    }

    /** Keeps the caller's place for a subscription until the answer is closed. */
    void keepPlace(Quota<Object>.Claim place) {
        stream.set(place);
    }

    /** An event of a subscription is {@code bytes} of JSON; the next one may take as much again. */
    void renderedEvent(long bytes) {
        kept.set(0);
        rendered(bytes);
    }

    private void take(long bytes) {
        if (!claim.tryTake(bytes)) {
            throw refuse(full());
        }
        if (claim.heldByAccount() > memory.max() / 2) {
            throw refuse(HandlerException.of(Reason.OVERLOADED,
                    "your requests and their answers take more than " + memory.max() / 2
                            + " bytes: read the answers that are under way first")
                    .retryAfter(RETRY_WHEN_FULL));
        }
    }

    private static HandlerException full() {
        return HandlerException.of(Reason.OVERLOADED,
                "too many bytes of requests and answers are being served").retryAfter(RETRY_WHEN_FULL);
    }

    /** Ends the document with the first refusal, which it returns. */
    private HandlerException refuse(HandlerException why) {
        HandlerException first = refusal.compareAndExchange(null, why);
        if (first != null) {
            return first;
        }
        refused.tryEmitError(why);
        return why;
    }

    /** Fails when the document must end, and never completes. */
    <T> Mono<T> refused() {
        return refused.asMono().then(Mono.never());
    }

    /**
     * What the response holds: closes the budget when it is cancelled, fails when another needs the memory.
     */
    Mono<Void> hold() {
        return Mono.defer(() -> {
            sent = true;
            return refused.asMono();
        }).doFinally(signal -> close());
    }

    /** The caller has left: frees the memory, unless a response holds it. */
    void left() {
        if (!sent) {
            close();
        }
    }

    /** Frees the memory, and refuses what is claimed from now on. A repeated call has no effect. */
    @Override
    public void close() {
        fields.close();
        claim.close();
        Quota<Object>.Claim place = stream.get();
        if (place != null) {
            place.close();
        }
    }
}
