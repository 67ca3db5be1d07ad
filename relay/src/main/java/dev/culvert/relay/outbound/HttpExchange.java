package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.upstream.DroppedBytes;
import dev.culvert.relay.upstream.ExchangeTimes;
import dev.culvert.relay.upstream.ResponseCredit;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamConnection;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One exchange with an HTTP upstream: the asker's calls on one side, a connection of a pool on the other.
 * Belongs to the exchange's event loop. The state is that of the response; the request's half has its own in
 * {@link RequestBody}.
 *
 * <pre>
 *    ┌── once, sent again ──┐
 *    ▼                      │
 * WAITING ───────────────► HEAD ──┬───────────────────► BODY ──┬──► ENDED ──► OVER
 *                                 └──► SWITCHING ─────► RAW ───┘
 * any ──► OVER: failed or cancelled
 * </pre>
 */
abstract sealed class HttpExchange<C extends UpstreamConnection> implements RequestSink
        permits Http1Exchange, Http2Exchange {
    /**
     * The maximum number of informational responses: without a limit they could keep an exchange alive for
     * ever.
     */
    static final int MAX_INFORMATIONAL = 32;
    /**
     * The time for an upstream that stopped reading to send its reason, and for the rest of a request to be
     * written after its response is complete.
     */
    static final Duration LINGER = Duration.ofSeconds(5);

    enum State {
        /** No connection is there yet. */
        WAITING,
        /** The request is sent, and its final head awaited. */
        HEAD,
        /** A 101 has arrived, but not the end of its message. HTTP/1.1 only. */
        SWITCHING,
        /** The final head has arrived, and the body follows. */
        BODY,
        /** Raw bytes follow a 101. HTTP/1.1 only. */
        RAW,
        /** The response is complete. The request may continue. */
        ENDED,
        /** The asker receives at most reports of consumed bytes. */
        OVER
    }

    final RelayRequest request;
    final UpstreamCall call;
    final ResponseSink response;
    final ResponseCredit credit;
    final ExchangeTimes times = new ExchangeTimes();
    /** Ends the wait for a connection. HTTP/2 uses it for later waits too. */
    final Deadline deadline;
    private final UpstreamPool<C> pool;
    private final DroppedBytes dropped;

    State state = State.WAITING;
    @Nullable
    C connection;
    int informational;
    /** The request was sent a second time. */
    boolean retried;
    /** The asker receives no reports of consumed bytes any more. */
    private boolean mute;

    HttpExchange(UpstreamPool<C> pool, RelayRequest request, UpstreamCall call, ResponseSink response) {
        this.pool = pool;
        this.request = request;
        this.call = call;
        this.response = response;
        this.credit = new ResponseCredit(pool.buffered());
        this.dropped = new DroppedBytes(request.loop(), this::requestConsumed);
        this.deadline = new Deadline(request.loop());
    }

    abstract RequestBody body();

    final boolean isOver() {
        return state == State.OVER;
    }

    // ---- the way to a connection ----

    /** Starts the exchange, or fails it if the head is not valid. */
    final void start() {
        CharSequence method = request.fields().method();
        if (method == null || body().isContradictory()) {
            fail(UpstreamProblem.badRequest("the request's head contradicts its body"));
        } else if (Http1UpstreamRequest.isForUs(method)) {
            fail(UpstreamProblem.methodNotAllowed(method));
        } else {
            acquire();
        }
    }

    /** Asks the pool for a connection. */
    void acquire() {
        pool.acquire(this);
    }

    /**
     * Starts the connect time-out: the exchange waits for a connection, and fails with {@code otherwise} when
     * the time is up.
     */
    final void await(Problem otherwise) {
        deadline.set(pool.limits().connectTimeout(), () -> fail(otherwise));
    }

    /** Takes a connection with room, and sends the head and the body bytes held so far. */
    final void attach(C taken) {
        deadline.clear();
        times.attached();
        response.carriedBy(taken.tls());
        send(taken);
    }

    /** Sends the request, and calls {@link #sent} when its head is on the way. */
    abstract void send(C taken);

    final void sent(C taken) {
        connection = taken;
        state = State.HEAD;
    }

    /** Waits for a connection again, to send the request a second time. */
    final void sendAgain() {
        retried = true;
        connection = null;
        state = State.WAITING;
    }

    // ---- the request ----

    @Override
    public final void data(ByteBuf part) {
        if (!body().data(part)) {
            fail(UpstreamProblem.badRequest("the request's body is longer than its head says"));
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!body().end(trailers)) {
            fail(UpstreamProblem.badRequest("the request's body is shorter than its head says"));
        }
    }

    @Override
    public final void cancel(Problem reason) {
        if (state != State.OVER) {
            mute = true;
            giveUp();
        }
    }

    /** Request bytes were written. */
    final void requestConsumed(int bytes) {
        if (!mute && bytes > 0) {
            response.consumed(bytes);
        }
    }

    /** Request bytes were dropped. They are reported later, because the asker may respond with more bytes. */
    final void requestDropped(int bytes) {
        dropped.add(bytes);
    }

    /** The whole request was written. */
    abstract void requestWritten();

    final UpstreamLimits limits() {
        return pool.limits();
    }

    final Duration headTimeout() {
        return call.headTimeout(pool.limits());
    }

    // ---- the response ----

    final boolean isHeadAwaited() {
        return state == State.WAITING || state == State.HEAD;
    }

    /** The final head or a 101 has arrived: the address is healthy. */
    final void answered(State next) {
        state = next;
        call.figures().answered();
        if (connection != null) {
            pool.endpoints().succeeded(connection.endpoint());
        }
    }

    // ---- trouble ----

    /**
     * Ends the response with a problem, or with a response on behalf of the upstream. If the response is
     * complete already, ends the request.
     */
    final void fail(Problem problem) {
        if (state == State.ENDED || state == State.OVER) {
            giveUp();
            return;
        }
        boolean unanswered = isHeadAwaited();
        boolean failed = problem.hop() == Problem.Hop.UPSTREAM
                && !problem.equals(UpstreamProblem.HEAD_TOO_LARGE); // the request causes that, at any address
        if (failed) {
            call.figures().failed(call.address(), problem, pool.endpoints().trouble());
        }
        if (connection != null && unanswered && failed) {
            pool.endpoints().failed(connection.endpoint());
        }
        String trouble = connection == null && problem.cause() == Problem.Cause.UPSTREAM_REFUSED
                ? pool.endpoints().trouble()
                : "";
        mute = true;
        giveUp();
        if (!trouble.isEmpty()) {
            response.notReached(trouble);
        }
        mute = !unanswered || call.away() == null || !call.away().answer(problem, response);
        if (mute) {
            response.fail(problem);
        }
    }

    /** Releases everything. The caller has notified the asker. */
    final void giveUp() {
        if (state == State.OVER) {
            return;
        }
        C upstream = connection;
        connection = null;
        over();
        body().discard();
        if (upstream != null) {
            detach(upstream);
        } else {
            pool.forget(this);
        }
    }

    final void over() {
        state = State.OVER;
        credit.forget();
        deadline.close();
    }

    /** Closes or resets what the exchange used of a connection. */
    abstract void detach(C upstream);
}
