package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.upstream.DeclaredLength;
import dev.culvert.relay.upstream.DroppedBytes;
import dev.culvert.relay.upstream.ExchangeTimes;
import dev.culvert.relay.upstream.ResponseCredit;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import org.jspecify.annotations.Nullable;

/**
 * One exchange with an upstream over a stream of an HTTP/2 connection. Belongs to the exchange's event loop.
 *
 * <pre>
 * waiting ─► head sent ─► head ─► body ─► ended ─► stream left to end, or reset when the request does not
 *    ▲           │          │       │
 *    └─ once ────┤          │       │     not begun by the upstream (GOAWAY, REFUSED_STREAM), and all of it still there
 *                └──────────┴───────┴───► failed or cancelled: stream reset
 * </pre>
 */
final class Http2Exchange implements RequestSink {
    private final Http2Pool pool;
    private final RelayRequest request;
    private final UpstreamCall outgoing;
    private final ResponseSink response;
    private final Http2RequestBody body;
    private final ResponseCredit credit;
    private final DroppedBytes dropped;
    private final Deadline deadline;
    private final ExchangeTimes times = new ExchangeTimes();

    private @Nullable Http2UpstreamConnection connection;
    private @Nullable Http2Stream stream;
    private int informational;
    private boolean retried;
    private boolean headSeen;
    /**
     * The head announced a body, of which no bytes arrived yet. The codec does not detect an end in this
     * state.
     */
    private boolean owesBody;
    private boolean responseEnded;
    /** The exchange is over: the asker receives only reports of consumed bytes. */
    private boolean over;
    /** The asker receives no reports of consumed bytes either. */
    private boolean mute;

    Http2Exchange(Http2Pool pool, RelayRequest request, UpstreamCall outgoing, ResponseSink response) {
        this.pool = pool;
        this.request = request;
        this.outgoing = outgoing;
        this.response = response;
        this.body = new Http2RequestBody(this, request, pool.buffered());
        this.credit = new ResponseCredit(pool.buffered());
        this.dropped = new DroppedBytes(request.loop(), this::requestConsumed);
        this.deadline = new Deadline(request.loop());
    }

    /** Starts the exchange, or fails it if the head is not valid. */
    void start() {
        CharSequence method = request.fields().method();
        if (method == null || body.isContradictory()) {
            fail(UpstreamProblem.badRequest("the request's head contradicts its body"));
        } else if (Http1UpstreamRequest.isForUs(method)) {
            fail(UpstreamProblem.methodNotAllowed(method));
        } else if (!Http2UpstreamRequest.prepare(request.fields(), outgoing, pool.address())) {
            fail(UpstreamProblem.badRequest("the request's head is not valid HTTP"));
        } else {
            pool.acquire(this);
        }
    }

    // ---- the way to a stream ----

    /**
     * Starts the connect time-out: the exchange waits for a connection, and fails with {@code otherwise} when
     * the time is up.
     */
    void await(Problem otherwise) {
        deadline.set(pool.limits().connectTimeout(), () -> fail(otherwise));
    }

    /** Takes a stream of a connection with room. */
    void attach(Http2UpstreamConnection taken) {
        deadline.clear();
        times.attached();
        taken.open(this, request.fields(), body.isEmpty());
    }

    /** The head was passed to the connection. */
    void opened(Http2UpstreamConnection taken, Http2Stream opened) {
        connection = taken;
        stream = opened;
        body.start(taken, opened);
    }

    // ---- the request ----

    @Override
    public void data(ByteBuf part) {
        if (!body.data(part)) {
            contradicted("the request's body is longer than its head says");
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (!body.end(trailers)) {
            contradicted("the request's body is shorter than its head says");
        } else if (responseEnded && !over) {
            deadline.set(Http1Exchange.LINGER, () -> giveUp(Http2Error.CANCEL));
        }
    }

    private void contradicted(String detail) {
        if (responseEnded) {
            giveUp(Http2Error.CANCEL);
        } else {
            fail(UpstreamProblem.badRequest(detail));
        }
    }

    @Override
    public void cancel(Problem reason) {
        if (!over) {
            mute = true;
            giveUp(Http2Error.CANCEL);
        }
    }

    /** Request bytes were written. */
    void requestConsumed(int bytes) {
        if (!mute && bytes > 0) {
            response.consumed(bytes);
        }
    }

    /** Request bytes were dropped. */
    void requestDropped(int bytes) {
        dropped.add(bytes);
    }

    /** The whole request was written. */
    void requestWritten() {
        if (responseEnded) {
            leave();
        } else if (!headSeen && !over) {
            times.requestWritten();
            deadline.set(outgoing.headTimeout(pool.limits()), this::headTooLate);
        }
    }

    /**
     * Fails the exchange and retires its connection: the upstream or the connection may be at fault, so the
     * next exchange gets another connection.
     */
    private void headTooLate() {
        Http2UpstreamConnection upstream = connection;
        fail(UpstreamProblem.TIMEOUT);
        if (upstream != null) {
            upstream.retire();
        }
    }

    // ---- the response ----

    /** Receives a header section: informational, the final head, or trailers. */
    void fields(Http2Headers received, boolean ended) {
        if (responseEnded) {
            return;
        }
        if (headSeen) {
            if (ended && !owesBody && Http2UpstreamResponse.areTrailers(received)) {
                endResponse(Http2UpstreamResponse.passed(received));
            } else {
                badResponse();
            }
            return;
        }
        int status = Http2UpstreamResponse.status(received);
        if (status < 0 || (status < 200 && (ended || ++informational > Http1Exchange.MAX_INFORMATIONAL))) {
            badResponse();
            return;
        }
        body.forgetSent();
        if (status < 200) {
            response.informational(Http2UpstreamResponse.passed(received));
        } else {
            finalHead(received, status, ended);
        }
    }

    private void finalHead(Http2Headers head, int status, boolean ended) {
        headSeen = true;
        if (connection != null) {
            connection.answered();
        }
        deadline.clear();
        boolean bodiless = Http2UpstreamResponse.isBodiless(status, Http1UpstreamRequest.isHead(request));
        owesBody = !bodiless && DeclaredLength.of(head) > 0;
        if (ended && owesBody) {
            badResponse();
            return;
        }
        if (ended || bodiless) {
            afterResponse();
        }
        times.tell(response);
        response.head(Http2UpstreamResponse.passed(head), ended || bodiless);
    }

    /** Receives response bytes. Takes ownership of {@code part}. */
    void responseData(ByteBuf part, boolean ended) {
        int bytes = part.readableBytes();
        if (bytes == 0 || !headSeen || responseEnded) {
            part.release();
        } else {
            owesBody = false;
            credit.received(bytes);
            response.data(part);
        }
        if (!headSeen || (ended && owesBody)) {
            badResponse();
        } else if (ended && !over && !responseEnded) {
            endResponse(null);
        }
    }

    @Override
    public void consumed(int bytes) {
        Http2UpstreamConnection upstream = connection;
        Http2Stream from = stream;
        if (!over && !responseEnded && upstream != null && from != null) {
            upstream.consumed(from, credit.consumed(bytes));
        }
    }

    private void endResponse(@Nullable Http2Headers trailers) {
        afterResponse();
        response.end(trailers);
    }

    /** The response is complete. The request may continue: its asker ends or cancels it. */
    private void afterResponse() {
        responseEnded = true;
        credit.forget();
        if (body.isWritten()) {
            leave();
        } else if (body.isEnded()) {
            deadline.set(Http1Exchange.LINGER, () -> giveUp(Http2Error.CANCEL));
        }
    }

    /** Both halves are complete, so the stream ends by itself. */
    private void leave() {
        Http2UpstreamConnection upstream = connection;
        Http2Stream from = stream;
        if (!over && upstream != null && from != null) {
            over = true;
            deadline.close();
            body.forgetSent();
            upstream.leave(from);
        }
    }

    // ---- trouble ----

    /** The upstream reset the stream. */
    void wasReset(long code) {
        stream = null; // RFC 9113 §5.4.2: no reset may follow a received one
        connection = null;
        Http2Error error = Http2Error.valueOf(code);
        if (error == Http2Error.REFUSED_STREAM) {
            unprocessed(UpstreamProblem.REFUSED_STREAM);
        } else if (error == Http2Error.CANCEL) {
            connectionLost(WireProblem.UPSTREAM_CANCELLED);
        } else {
            connectionLost(UpstreamProblem.streamReset(error == null ? "code " + code : error.name()));
        }
    }

    /** The upstream has not processed the request, which is sent again if possible. */
    void unprocessed(Problem otherwise) {
        if (over) {
            return;
        }
        stream = null;
        connection = null;
        if (retried || headSeen || informational > 0 || !body.rewind()) {
            fail(otherwise);
            return;
        }
        retried = true;
        deadline.clear();
        pool.acquire(this);
    }

    /** The stream ended without its exchange. */
    void connectionLost(Problem why) {
        if (responseEnded) {
            giveUp(Http2Error.CANCEL);
        } else {
            fail(why.equals(UpstreamProblem.NO_RESPONSE) && headSeen ? UpstreamProblem.BROKEN_RESPONSE : why);
        }
    }

    /** Fails the exchange: the received frames are not valid HTTP. */
    void badResponse() {
        if (responseEnded) {
            giveUp(Http2Error.PROTOCOL_ERROR);
        } else {
            fail(UpstreamProblem.BAD_HTTP2, Http2Error.PROTOCOL_ERROR);
        }
    }

    /** Ends the response with a problem, or with a response on behalf of the upstream. */
    void fail(Problem problem) {
        fail(problem, Http2Error.CANCEL);
    }

    private void fail(Problem problem, Http2Error told) {
        if (over || responseEnded) {
            giveUp(told);
            return;
        }
        boolean failed = problem.hop() == Problem.Hop.UPSTREAM
                && !problem.equals(UpstreamProblem.HEAD_TOO_LARGE); // the request causes that, at any address
        if (connection != null && !headSeen && failed) {
            connection.failed();
        }
        responseEnded = true;
        mute = true;
        giveUp(told);
        boolean answered = !headSeen && outgoing.away() != null && outgoing.away().answer(problem, response);
        mute = !answered;
        if (!answered) {
            response.fail(problem);
        }
    }

    /** Releases everything. The caller has notified the asker. */
    private void giveUp(Http2Error told) {
        if (over) {
            return;
        }
        over = true;
        credit.forget();
        deadline.close();
        Http2UpstreamConnection upstream = connection;
        Http2Stream from = stream;
        connection = null;
        stream = null;
        body.discard();
        if (upstream != null && from != null) {
            upstream.reset(from, told);
        } else {
            pool.forget(this);
        }
    }
}
