package dev.culvert.relay.outbound;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One exchange with an upstream over a stream of an HTTP/2 connection. When the response is complete, the
 * stream is left to end by itself, or reset if the request does not end. The request is sent again if the
 * upstream has not begun it (GOAWAY, REFUSED_STREAM) and all of it is still kept.
 */
final class Http2Exchange extends HttpExchange<Http2UpstreamConnection> {
    private final UpstreamAddress address;
    private final Http2RequestBody body;

    private @Nullable Http2Stream stream;
    private Http2Error resetCode = Http2Error.CANCEL;
    /**
     * The head announced a body, of which no bytes arrived yet. The codec does not detect an end in this
     * state.
     */
    private boolean owesBody;

    Http2Exchange(Http2Pool pool, RelayRequest request, UpstreamCall call, ResponseSink response) {
        super(pool, request, call, response);
        this.address = pool.address();
        this.body = new Http2RequestBody(this, request, pool.buffered());
    }

    @Override
    RequestBody body() {
        return body;
    }

    // ---- the way to a stream ----

    @Override
    void acquire() {
        if (Http2UpstreamRequest.prepare(request.fields(), call, address)) {
            super.acquire();
        } else {
            fail(UpstreamProblem.badRequest("the request's head is not valid HTTP"));
        }
    }

    @Override
    void send(Http2UpstreamConnection taken) {
        taken.open(this, request.fields(), body.empty);
    }

    /** The head was passed to the connection. */
    void opened(Http2UpstreamConnection taken, Http2Stream opened) {
        sent(taken);
        stream = opened;
        body.start(taken, opened);
    }

    // ---- the request ----

    @Override
    public void end(@Nullable Http2Headers trailers) {
        super.end(trailers);
        if (state == State.ENDED) {
            deadline.set(LINGER, this::giveUp);
        }
    }

    @Override
    void requestWritten() {
        if (state == State.ENDED) {
            leave();
        } else if (state == State.HEAD) {
            times.requestWritten();
            deadline.set(headTimeout(), this::headTooLate);
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
        switch (state) {
            case HEAD -> head(received, ended);
            case BODY -> {
                if (received.size() <= limits().headFields() && ended && !owesBody
                        && Http2UpstreamResponse.areTrailers(received)) {
                    endResponse(Http2UpstreamResponse.passed(received));
                } else {
                    badResponse();
                }
            }
            default -> {
            }
        }
    }

    private void head(Http2Headers received, boolean ended) {
        if (received.size() - 1 > limits().headFields()) { // the status is none
            largeHead();
            return;
        }
        int status = Http2UpstreamResponse.status(received);
        long length = ContentLength.of(received);
        boolean toHead = Http1UpstreamRequest.isHead(request);
        if (status < 0 || !ContentLength.fits(length, status, toHead)
                || (status < 200 && (ended || ++informational > MAX_INFORMATIONAL))) {
            badResponse();
            return;
        }
        body.forgetSent();
        if (status < 200) {
            response.informational(Http2UpstreamResponse.passed(received));
        } else {
            finalHead(received, ContentLength.isBodiless(status, toHead), length, ended);
        }
    }

    private void finalHead(Http2Headers head, boolean bodiless, long length, boolean ended) {
        answered(State.BODY);
        deadline.clear();
        owesBody = !bodiless && length > 0;
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
        if (bytes > 0 && state == State.BODY) {
            owesBody = false;
            credit.received(bytes);
            response.data(part);
        } else {
            part.release();
        }
        if (isHeadAwaited() || (ended && owesBody)) {
            badResponse();
        } else if (ended && state == State.BODY) {
            endResponse(null);
        }
    }

    @Override
    public void consumed(int bytes) {
        Http2UpstreamConnection upstream = connection;
        Http2Stream from = stream;
        if (!isOver() && state != State.ENDED && upstream != null && from != null) {
            upstream.consumed(from, credit.consumed(bytes));
        }
    }

    private void endResponse(@Nullable Http2Headers trailers) {
        afterResponse();
        response.end(trailers);
    }

    /** The response is complete. The request may continue: its asker ends or cancels it. */
    private void afterResponse() {
        state = State.ENDED;
        credit.forget();
        if (body.isWritten()) {
            leave();
        } else if (body.isEnded()) {
            deadline.set(LINGER, this::giveUp);
        }
    }

    /** Both halves are complete, so the stream ends by itself. */
    private void leave() {
        Http2UpstreamConnection upstream = connection;
        Http2Stream from = stream;
        if (upstream != null && from != null) {
            over();
            body.forgetSent();
            upstream.leave(from);
        }
    }

    // ---- trouble ----

    /** The upstream reset the stream. */
    void wasReset(long code) {
        connection = null; // RFC 9113 §5.4.2: no reset may follow a received one
        Http2Error error = Http2Error.valueOf(code);
        if (error == Http2Error.REFUSED_STREAM) {
            unprocessed(UpstreamProblem.REFUSED_STREAM);
        } else if (error == Http2Error.CANCEL) {
            fail(WireProblem.UPSTREAM_CANCELLED);
        } else {
            fail(UpstreamProblem.streamReset(error == null ? "code " + code : error.name()));
        }
    }

    /** The upstream has not processed the request, which is sent again if possible. */
    void unprocessed(Problem otherwise) {
        if (isOver()) {
            return;
        }
        connection = null;
        if (retried || !isHeadAwaited() || informational > 0 || !body.rewind()) {
            fail(otherwise);
            return;
        }
        sendAgain();
        deadline.clear();
        super.acquire();
    }

    /** The stream ended without its exchange. */
    void connectionLost(Problem why) {
        fail(why.equals(UpstreamProblem.NO_RESPONSE) && !isHeadAwaited()
                ? UpstreamProblem.BROKEN_RESPONSE
                : why);
    }

    /** Fails the exchange: the head exceeds a limit. */
    void largeHead() {
        fail(UpstreamProblem.largeHead(limits()));
    }

    /** Fails the exchange: the received frames are not valid HTTP. */
    void badResponse() {
        resetCode = Http2Error.PROTOCOL_ERROR;
        fail(UpstreamProblem.BAD_HTTP2);
    }

    @Override
    void detach(Http2UpstreamConnection upstream) {
        upstream.reset(Objects.requireNonNull(stream), resetCode);
    }
}
