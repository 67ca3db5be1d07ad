package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.GrpcContent;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.quota.BudgetedBytes;
import dev.culvert.relay.quota.Lag;
import dev.culvert.relay.quota.PacedBody;
import dev.culvert.relay.quota.RuntimeQuota;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The caller's half of one exchange: forwards the request, counts the bytes in flight, and applies its
 * deadlines.
 *
 * <pre>
 *  BODY ──end──► ANSWER ──response head──► (no deadline)
 *   │ └─ silence: 408 └─ no head: 504             ▲
 *   └──────────────response head─────────────────┘
 * </pre>
 */
final class RequestHalf {
    private final EdgeStream stream;
    private final BudgetedBytes held;
    /** Ends the exchange when a deadline passes. */
    private final Consumer<Problem> giveUp;
    /** The bytes that the upstream's side has not consumed; null before the first ones. */
    private @Nullable Lag untaken;
    private @Nullable RequestSink sink;
    /** The request that is forwarded when its end shows that it has no body. */
    private @Nullable EmptyRequest empty;
    private boolean ended;
    private boolean awaits100;
    private int unforwarded;
    private long received;
    private @Nullable RuntimeQuota quota;
    private @Nullable BodyTimeout timeout;
    private @Nullable PacedBody paced;
    private long leastRate;
    /**
     * The time at which the upstream's side last consumed bytes of the body, or the first bytes began to wait
     * for it.
     */
    private long takenNanos;

    RequestHalf(EdgeStream stream, BudgetedBytes held, Consumer<Problem> giveUp) {
        this.stream = stream;
        this.held = held;
        this.giveUp = giveUp;
    }

    /** Whether the request has ended, or no further part of it is needed. */
    boolean isEnded() {
        return ended;
    }

    void ended(boolean complete) {
        ended = complete;
    }

    /** The body bytes that the upstream's side has not consumed. */
    int unforwarded() {
        return unforwarded;
    }

    /** The body bytes that were received and forwarded, or wait for that. */
    long received() {
        return received;
    }

    /** Whether the request has a receiver. */
    boolean isTaken() {
        return sink != null;
    }

    /** The caller sends its body only after a 100 response (RFC 9110 §10.1.1), or after its own time-out. */
    void awaits100() {
        awaits100 = true;
    }

    /** Whether the caller may have skipped its body, so that its next request would be read as the body. */
    boolean maySkipBody() {
        return awaits100;
    }

    /** The caller received a 100 response. */
    void goOn() {
        awaits100 = false;
    }

    /** Forwards the head, and starts the deadline of the rest. */
    void open(EdgeRuntimes.RuntimeEndpoint runtime, RelayRequest request, ResponseSink response,
            boolean withoutBody) {
        quota = runtime.quota();
        ended = withoutBody;
        if (withoutBody) {
            awaitResponse();
        } else {
            leastRate = leastRate(request.fields());
            awaitBody();
        }
        if (EmptyRequest.isOne(request)) {
            empty = new EmptyRequest(runtime.relay(), request, response);
        } else {
            sink = runtime.relay().open(request, response);
        }
    }

    /** Forwards the request that waits for its end. */
    private void openEmpty(boolean complete) {
        EmptyRequest waiting = empty;
        if (waiting != null) {
            empty = null;
            sink = waiting.open(complete);
        }
    }

    /** Receives body bytes. Takes ownership of {@code body}. */
    void data(ByteBuf body) {
        openEmpty(false);
        RequestSink to = sink;
        awaits100 = false;
        if (to == null) {
            drop(body);
            return;
        }
        int bytes = body.readableBytes();
        if (unforwarded == 0) {
            takenNanos = System.nanoTime();
        }
        unforwarded += bytes;
        received += bytes;
        quota().usage().in(bytes);
        came(bytes);
        PacedBody pace = paced;
        if (pace == null) {
            pace = quota().pacedRequest(stream.loop(), this::forward);
            paced = pace;
        }
        if (pace == null) {
            forward(body);
        } else {
            pace.data(body);
        }
    }

    private void forward(ByteBuf body) {
        RequestSink to = sink;
        if (to == null) {
            body.release();
        } else {
            Lag lag = untaken;
            if (lag == null) {
                lag = new Lag(stream.loop(), () -> {}, () -> giveUp.accept(EdgeProblems.SLOW_UPSTREAM));
                untaken = lag;
            }
            lag.waits(body.readableBytes(), quota().memory());
            to.data(body);
        }
    }

    private void came(int bytes) {
        BodyTimeout waited = timeout;
        if (waited != null) {
            waited.came(bytes, leastRate, System.nanoTime());
        }
    }

    /** Whether the body exceeds the runtime's limit. A WebSocket's bytes are not a body. */
    boolean isTooLong() {
        return !stream.response().isUpgraded() && sink != null && quota().isTooLong(received);
    }

    /** Counts the refusal and returns its problem. */
    Problem bodyTooLong() {
        return quota().bodyTooLong();
    }

    private RuntimeQuota quota() {
        return Objects.requireNonNull(quota);
    }

    /** Drops body bytes that are no longer needed. Takes ownership of {@code body}. */
    void drop(ByteBuf body) {
        int bytes = body.readableBytes();
        awaits100 = false;
        body.release();
        stream.requestDropped(bytes);
    }

    /** The caller ended its request. */
    void end(@Nullable Http2Headers trailers) {
        if (!stream.response().isHeadSent()) {
            awaitResponse();
        }
        pass(trailers);
    }

    /** Ends the request at the upstream's side. */
    void pass(@Nullable Http2Headers trailers) {
        ended = true;
        PacedBody pace = paced;
        if (empty != null && trailers == null) {
            openEmpty(true);
            return;
        }
        openEmpty(false);
        if (pace == null) {
            forwardEnd(trailers);
        } else {
            pace.end(() -> forwardEnd(trailers));
        }
    }

    private void forwardEnd(@Nullable Http2Headers trailers) {
        RequestSink to = sink;
        if (to != null) {
            to.end(trailers);
        }
    }

    /** The response begins: no deadline applies any more. */
    void answered() {
        stream.deadline().clear();
    }

    /** Body bytes were consumed by the upstream's side. */
    void consumed(int bytes) {
        unforwarded -= bytes;
        if (untaken != null) {
            untaken.taken(bytes);
        }
        takenNanos = System.nanoTime();
        if (ended && !stream.response().isHeadSent()) {
            awaitResponse();
        } else if (!ended && unforwarded == 0) {
            callersTurn();
        }
    }

    private void callersTurn() {
        BodyTimeout waited = timeout;
        if (waited != null && !stream.response().isHeadSent()) {
            long now = System.nanoTime();
            waited.turn(now);
            stream.deadline().set(Duration.ofNanos(waited.left(now)), this::bodyTooSlow);
        }
    }

    /** Reports response bytes that the caller has accepted. */
    void acknowledge(int bytes) {
        RequestSink to = sink;
        if (to != null && bytes > 0) {
            to.consumed(bytes);
        }
    }

    /** Cancels the request: its response is no longer needed. */
    void abandon(Problem why) {
        RequestSink to = sink;
        sink = null;
        empty = null;
        drop();
        if (to != null) {
            to.cancel(why);
        }
    }

    /** The upstream's side accepts no more of the request. */
    void refused() {
        sink = null;
        drop();
    }

    /** Drops the bytes that wait for their pace. */
    private void drop() {
        closeLag();
        PacedBody pace = paced;
        if (pace != null) {
            pace.close();
        }
    }

    /** The response is complete: bytes in flight no longer count. */
    void settle() {
        closeLag();
        unforwarded = 0;
    }

    private void closeLag() {
        if (untaken != null) {
            untaken.close();
        }
    }

    private void awaitBody() {
        Duration silence = stream.shared().limits().requestBodyIdleTimeout();
        timeout = new BodyTimeout(silence, System.nanoTime());
        stream.deadline().set(silence, this::bodyTooSlow);
    }

    /** Returns the minimum rate of the body; 0 for gRPC, whose messages may be far apart. */
    private long leastRate(Http2Headers fields) {
        return GrpcContent.isGrpc(fields.get("content-type"))
                ? 0
                : stream.shared().limits().minRequestBodyRate().bytes();
    }

    private void bodyTooSlow() {
        if (unforwarded > 0) {
            awaitUpstream(this::bodyTooSlow, stream.shared().limits().requestBodyIdleTimeout());
            return;
        }
        if (held.owedRequest() > 0) {
            awaitBody(); // memory is short, so the edge does not let the caller send
            return;
        }
        long left = timeout == null ? 0 : timeout.left(System.nanoTime());
        if (left > 0) {
            stream.deadline().set(Duration.ofNanos(left), this::bodyTooSlow);
            return;
        }
        ended = true; // no further part is needed
        stream.lastOfConnection();
        giveUp.accept(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the body did not arrive in time"));
    }

    /**
     * Waits for the upstream, which has not consumed all received bytes: the caller is not silent. Checks
     * again later.
     */
    private void awaitUpstream(Runnable look, Duration later) {
        Duration most = stream.shared().limits().requestStallTimeout();
        boolean pacing = paced != null && paced.isWaiting();
        if (most.isZero() || pacing) {
            stream.deadline().set(later, look);
            return;
        }
        Duration left = most.minusNanos(System.nanoTime() - takenNanos);
        if (left.isPositive()) {
            stream.deadline().set(left.compareTo(later) < 0 ? left : later, look);
        } else {
            giveUp.accept(Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
                    "the upstream took nothing of the request's body for " + most.toMillis() + " ms"));
        }
    }

    private void awaitResponse() {
        stream.deadline().set(stream.shared().limits().responseHeadTimeout(), this::responseTooSlow);
    }

    private void responseTooSlow() {
        if (unforwarded > 0) {
            awaitUpstream(this::responseTooSlow, stream.shared().limits().responseHeadTimeout());
            return;
        }
        giveUp.accept(Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
                "the upstream sent no response head in time"));
    }
}
