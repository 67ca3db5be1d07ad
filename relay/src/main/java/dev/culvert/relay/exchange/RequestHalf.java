package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.GrpcContent;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
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
 * The caller's half of one exchange: passes the request on, counts what of it is under way, and watches its deadlines.
 *
 * <pre>
 *  BODY ──end──► ANSWER ──response head──► (no deadline)
 *   │ └─ silence: 408 └─ no head: 504             ▲
 *   └──────────────response head─────────────────┘
 * </pre>
 */
final class RequestHalf {
    private final EdgeStream stream;
    /** Ends the exchange when a deadline is met. */
    private final Consumer<Problem> giveUp;
    /** How far the upstream's side lags behind. */
    private final Lag untaken;
    private @Nullable RequestSink sink;
    private boolean ended;
    private boolean awaits100;
    private int unforwarded;
    private long received;
    private @Nullable RuntimeQuota quota;
    private @Nullable BodyTimeout patience;
    private @Nullable PacedBody paced;
    private long leastRate;
    /** When the upstream's side last took some of the body, or some began to wait for it. */
    private long takenNanos;

    RequestHalf(EdgeStream stream, Consumer<Problem> giveUp) {
        this.stream = stream;
        this.giveUp = giveUp;
        this.untaken = new Lag(stream.loop(), () -> {}, () -> giveUp.accept(EdgeProblems.SLOW_UPSTREAM));
    }

    /** Whether nothing of it comes any more, as far as anybody waits for it. */
    boolean isEnded() {
        return ended;
    }

    void ended(boolean complete) {
        ended = complete;
    }

    /** Body bytes that the upstream's side has not taken. */
    int unforwarded() {
        return unforwarded;
    }

    /** Body bytes that came and were passed on, or wait for that. */
    long received() {
        return received;
    }

    /** Whether somebody takes the request. */
    boolean isTaken() {
        return sink != null;
    }

    /** The caller sends its body only when it is told to go on (RFC 9110 §10.1.1), or tires of waiting. */
    void awaits100() {
        awaits100 = true;
    }

    /** Whether the caller may have skipped its body, so that the next request would be taken for it. */
    boolean maySkipBody() {
        return awaits100;
    }

    /** The caller was told to go on. */
    void goOn() {
        awaits100 = false;
    }

    /** Sends the head on its way, and waits for the rest. */
    void open(EdgeRuntimes.RuntimeEndpoint runtime, Relay way, RelayRequest request, ResponseSink response,
            boolean withoutBody) {
        quota = runtime.quota();
        ended = withoutBody;
        if (withoutBody) {
            awaitResponse();
        } else {
            leastRate = leastRate(request.fields());
            awaitBody();
        }
        sink = way.open(request, response);
    }

    /** Body bytes came. Takes ownership of {@code body}. */
    void data(ByteBuf body) {
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
            untaken.waits(body.readableBytes(), quota().memory());
            to.data(body);
        }
    }

    private void came(int bytes) {
        BodyTimeout waited = patience;
        if (waited != null) {
            waited.came(bytes, leastRate, System.nanoTime());
        }
    }

    /** Whether more of the body came than the runtime takes. A WebSocket's bytes are no body. */
    boolean isTooLong() {
        return !stream.response().isUpgraded() && sink != null && quota().isTooLong(received);
    }

    /** Counts the refusal. */
    Problem bodyTooLong() {
        return quota().bodyTooLong();
    }

    private RuntimeQuota quota() {
        return Objects.requireNonNull(quota);
    }

    /** Body bytes came that nobody wants any more. Takes ownership of {@code body}. */
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

    /** Tells the upstream's side that the request has ended. */
    void pass(@Nullable Http2Headers trailers) {
        ended = true;
        PacedBody pace = paced;
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

    /** The response begins: from now on each side speaks when it has something to say. */
    void answered() {
        stream.deadline().clear();
    }

    /** So many bytes of the body were passed on. */
    void consumed(int bytes) {
        unforwarded -= bytes;
        untaken.taken(bytes);
        takenNanos = System.nanoTime();
        if (ended && !stream.response().isHeadSent()) {
            awaitResponse();
        } else if (!ended && unforwarded == 0) {
            callersTurn();
        }
    }

    private void callersTurn() {
        BodyTimeout waited = patience;
        if (waited != null && !stream.response().isHeadSent()) {
            long now = System.nanoTime();
            waited.turn(now);
            stream.deadline().set(Duration.ofNanos(waited.left(now)), this::bodyTooSlow);
        }
    }

    /** The caller has taken so many bytes of the response. */
    void acknowledge(int bytes) {
        RequestSink to = sink;
        if (to != null && bytes > 0) {
            to.consumed(bytes);
        }
    }

    /** Nobody waits for the answer any more. */
    void abandon(Problem why) {
        RequestSink to = sink;
        sink = null;
        drop();
        if (to != null) {
            to.cancel(why);
        }
    }

    /** The upstream's side takes nothing any more. */
    void refused() {
        sink = null;
        drop();
    }

    /** What waits for its pace. */
    private void drop() {
        untaken.close();
        PacedBody pace = paced;
        if (pace != null) {
            pace.close();
        }
    }

    /** The exchange is answered: what was under way counts no longer. */
    void settle() {
        untaken.close();
        unforwarded = 0;
    }

    private void awaitBody() {
        Duration silence = stream.shared().limits().requestBodyIdleTimeout();
        patience = new BodyTimeout(silence, System.nanoTime());
        stream.deadline().set(silence, this::bodyTooSlow);
    }

    /** The messages of a gRPC call come as their sender has something to say. */
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
        if (quota().memory().isSpent()) {
            awaitBody(); // the edge does not read the body: that is not the caller's silence
            return;
        }
        long left = patience == null ? 0 : patience.left(System.nanoTime());
        if (left > 0) {
            stream.deadline().set(Duration.ofNanos(left), this::bodyTooSlow);
            return;
        }
        ended = true; // as far as anybody waits for it
        stream.lastOfConnection();
        giveUp.accept(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the body did not arrive in time"));
    }

    /** The upstream has yet to take what came of the request, which is not the caller's silence: looks again later. */
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
