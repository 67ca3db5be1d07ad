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
 * One exchange with an upstream over a stream of an HTTP/2 connection. On the exchange's event loop.
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
    /** The head announced a body, of which nothing came: that alone is not seen by the codec. */
    private boolean owesBody;
    private boolean responseEnded;
    /** Nothing is told to the asker any more but what was consumed. */
    private boolean over;
    /** Not even that. */
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

    /** Begins, unless the head can't be meant. */
    void start() {
        CharSequence method = request.fields().method();
        if (method == null || body.isContradictory()) {
            fail(UpstreamProblem.badRequest("the request's head contradicts its body"));
        } else if (Http1UpstreamRequest.isForUs(method)) {
            fail(UpstreamProblem.methodNotAllowed(method));
        } else if (!Http2UpstreamRequest.prepare(request.fields(), outgoing, pool.address())) {
            fail(UpstreamProblem.badRequest("the request's head holds what HTTP does not allow"));
        } else {
            pool.acquire(this);
        }
    }

    // ---- the way to a stream ----

    /** It has to wait for a connection: for so long, then it fails with {@code otherwise}. */
    void await(Problem otherwise) {
        deadline.set(pool.limits().connectTimeout(), () -> fail(otherwise));
    }

    /** Takes a stream of a connection that has room. */
    void attach(Http2UpstreamConnection taken) {
        deadline.clear();
        times.attached();
        taken.open(this, request.fields(), body.isEmpty());
    }

    /** The head is on its way. */
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

    /** Whether the upstream or the connection is at fault does not show: the next exchange gets another one. */
    private void headTooLate() {
        Http2UpstreamConnection upstream = connection;
        fail(UpstreamProblem.TIMEOUT);
        if (upstream != null) {
            upstream.retire();
        }
    }

    // ---- the response ----

    /** A header section came: informational, the head, or trailers. */
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

    /** Response bytes came. Takes ownership of {@code part}. */
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

    /** The response is complete. The request may go on: its asker ends it or gives it up. */
    private void afterResponse() {
        responseEnded = true;
        credit.forget();
        if (body.isWritten()) {
            leave();
        } else if (body.isEnded()) {
            deadline.set(Http1Exchange.LINGER, () -> giveUp(Http2Error.CANCEL));
        }
    }

    /** Both halves are complete: the stream ends by itself. */
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
        stream = null; // RFC 9113 §5.4.2: a reset is not answered with one
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

    /** The upstream has not begun with the request, which is sent again where it still can be. */
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

    /** The stream is gone. */
    void connectionLost(Problem why) {
        if (responseEnded) {
            giveUp(Http2Error.CANCEL);
        } else {
            fail(why.equals(UpstreamProblem.NO_RESPONSE) && headSeen ? UpstreamProblem.BROKEN_RESPONSE : why);
        }
    }

    /** What came is no HTTP. */
    void badResponse() {
        if (responseEnded) {
            giveUp(Http2Error.PROTOCOL_ERROR);
        } else {
            fail(UpstreamProblem.BAD_HTTP2, Http2Error.PROTOCOL_ERROR);
        }
    }

    /** Ends the response with a problem, or with an answer in the upstream's name. */
    void fail(Problem problem) {
        fail(problem, Http2Error.CANCEL);
    }

    private void fail(Problem problem, Http2Error told) {
        if (over || responseEnded) {
            giveUp(told);
            return;
        }
        boolean failed = problem.hop() == Problem.Hop.UPSTREAM
                && !problem.equals(UpstreamProblem.HEAD_TOO_LARGE); // that is its asker's doing, at any address
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

    /** Lets go of everything; whoever calls has told the asker. */
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
