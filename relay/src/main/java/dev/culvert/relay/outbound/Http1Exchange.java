package dev.culvert.relay.outbound;

import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * One exchange with an HTTP/1.1 upstream. Its connection is kept for the next one if the response is framed
 * and began after the whole request was written; otherwise it is closed.
 */
final class Http1Exchange extends HttpExchange<Http1UpstreamConnection> {
    private final Http1Pool pool;
    private final Http1RequestBody body;
    private boolean bodiless;
    private boolean keepConnection;
    private boolean endsWithConnection;

    Http1Exchange(Http1Pool pool, RelayRequest request, UpstreamCall call, ResponseSink response) {
        super(pool, request, call, response);
        this.pool = pool;
        this.body = new Http1RequestBody(this, request, pool.buffered());
    }

    @Override
    RequestBody body() {
        return body;
    }

    @Override
    void send(Http1UpstreamConnection taken) {
        CharSequence method = request.fields().method();
        ByteBuf head = Http1UpstreamRequest.encode(taken.allocator(), request, call,
                body.headFields(method == null ? "" : method));
        if (head == null) {
            taken.close();
            fail(UpstreamProblem.badRequest("the request's head is not valid HTTP"));
            return;
        }
        sent(taken);
        taken.begin(this, Http1UpstreamRequest.isHead(request));
        body.start(taken, head);
    }

    // ---- the request ----

    @Override
    void requestWritten() {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            return;
        }
        switch (state) {
            case HEAD -> {
                times.requestWritten();
                upstream.deadline().set(headTimeout(), () -> fail(UpstreamProblem.TIMEOUT));
            }
            case RAW -> upstream.endOutput();
            case ENDED -> giveUp();
            default -> {
            }
        }
    }

    /**
     * The upstream accepts no more of the request. It may have sent a response with the reason, which may
     * still arrive.
     */
    void requestBroken() {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            return;
        }
        body.discard();
        if (state == State.ENDED) {
            giveUp();
        } else if (state == State.HEAD) {
            upstream.deadline().set(LINGER, this::reset);
        }
    }

    // ---- the response ----

    /** Receives a response head. Informational ones end like others, with an empty body. */
    void head(HttpResponse head) {
        int status = head.status().code();
        boolean upgraded = status == 101;
        if (state != State.HEAD || (upgraded && request.kind() != Kind.UPGRADE)) {
            badResponse();
        } else if (head.headers().size() > limits().headFields()) {
            fail(UpstreamProblem.largeHead(limits()));
        } else if (upgraded) {
            answered(State.SWITCHING);
            connection().deadline().clear();
            times.tell(response);
            response.head(Http1UpstreamResponse.of(head, true), false);
        } else if (status >= 200) {
            finalHead(head);
        } else if (++informational > MAX_INFORMATIONAL) {
            badResponse();
        } else {
            response.informational(Http1UpstreamResponse.of(head, false));
        }
    }

    private void finalHead(HttpResponse head) {
        boolean toHead = Http1UpstreamRequest.isHead(request);
        bodiless = Http1UpstreamResponse.isBodiless(head, toHead);
        endsWithConnection = Http1UpstreamResponse.endsWithConnection(head, toHead);
        keepConnection = !endsWithConnection && HttpUtil.isKeepAlive(head) && body.isWritten();
        finalHead(Http1UpstreamResponse.of(head, false), head.headers().get("keep-alive"));
        if (bodiless && endsWithConnection && state == State.BODY) {
            endResponse(null); // a 205: its asker has all of it
        }
    }

    /** Receives a whole response. Takes ownership of its body. */
    void whole(WholeResponse received) {
        if (state != State.HEAD) {
            received.body().release();
            badResponse();
            return;
        }
        bodiless = !received.body().isReadable();
        keepConnection = body.isWritten();
        Http1UpstreamConnection upstream = connection();
        try {
            finalHead(received.fields(), received.keepAlive());
        } catch (Throwable e) {
            received.body().release();
            throw e;
        }
        responseData(received.body());
        if (connection == upstream) {
            responseEnd(EmptyHttpHeaders.INSTANCE);
        }
    }

    private void finalHead(Http2Headers head, @Nullable CharSequence keepAlive) {
        answered(State.BODY);
        connection().deadline().clear();
        connection().keepFor(keepAlive);
        if (request.kind() == Kind.UPGRADE) {
            body.discard();
        }
        times.tell(response);
        response.head(head, bodiless);
    }

    /** Receives response bytes, of a body or raw. Takes ownership of {@code part}. */
    void responseData(ByteBuf part) {
        int bytes = part.readableBytes();
        if (bytes == 0 || !(state == State.BODY || state == State.RAW)) {
            part.release();
            return;
        }
        if (bodiless) { // of a 205, which has no content (RFC 9110 §15.3.6)
            part.release();
            keepConnection = false;
            endResponse(null);
            return;
        }
        credit.received(bytes);
        response.data(part);
        Http1UpstreamConnection upstream = connection;
        if (upstream != null && credit.isUsedUp()) {
            upstream.pause();
        }
    }

    @Override
    public void consumed(int bytes) {
        if (state == State.ENDED || state == State.OVER) {
            return;
        }
        credit.consumed(bytes);
        Http1UpstreamConnection upstream = connection;
        if (upstream != null && credit.isThere()) {
            upstream.resume();
        }
    }

    /** Receives the end of a message: of a response, a 101 or, while the head is awaited, informational. */
    void responseEnd(HttpHeaders trailers) {
        if (state == State.SWITCHING) {
            state = State.RAW;
            connection().switchToRaw();
            body.startRaw();
        } else if (state == State.BODY) {
            if (endsWithConnection && !connection().isEndedByPeer()) {
                reset();
            } else {
                endResponse(trailers.isEmpty() ? null : Http1UpstreamResponse.trailers(trailers));
            }
        }
    }

    /** Ends the response. With raw bytes, the asker's half may continue. */
    private void endResponse(@Nullable Http2Headers trailers) {
        boolean refusedUpgrade = request.kind() == Kind.UPGRADE && state == State.BODY;
        state = State.ENDED;
        credit.forget();
        Http1UpstreamConnection upstream = connection();
        if (keepConnection) {
            connection = null;
            over();
            upstream.release();
        } else if (body.isWritten() || refusedUpgrade) {
            giveUp();
        } else {
            upstream.resume();
            if (body.isEnded()) {
                upstream.deadline().set(LINGER, this::giveUp);
            }
        }
        if (!bodiless) {
            response.end(trailers);
        }
    }

    // ---- trouble ----

    /** The upstream sends nothing more. If {@code dead}, it also accepts nothing more. */
    void inputEnded(boolean dead) {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            return;
        }
        if (state == State.ENDED) {
            if (dead) {
                giveUp();
            }
        } else if (state == State.RAW && !dead) {
            endResponse(null);
        } else if (isRepeatable(upstream)) {
            sendAgain();
            upstream.close();
            pool.acquireNew(this, null);
        } else {
            reset();
        }
    }

    /**
     * Whether the request may be sent again: only a safe one (RFC 9110 §9.2.2). An upstream may close an idle
     * connection while the gateway writes to it.
     */
    private boolean isRepeatable(Http1UpstreamConnection upstream) {
        return !retried && state == State.HEAD && request.ended() && request.kind() == Kind.HTTP
                && upstream.isReused() && !upstream.isReceiving() && Http1UpstreamRequest.isSafe(request);
    }

    private void reset() {
        fail(isHeadAwaited() ? UpstreamProblem.NO_RESPONSE : UpstreamProblem.BROKEN_RESPONSE);
    }

    /** Fails the exchange: the received bytes can't be decoded. */
    void badResponse(Throwable cause) {
        fail(UpstreamProblem.badResponse(cause, limits()));
    }

    /** Fails the exchange: the received bytes are not valid HTTP. */
    void badResponse() {
        fail(UpstreamProblem.BAD_RESPONSE);
    }

    @Override
    void detach(Http1UpstreamConnection upstream) {
        upstream.close();
    }

    private Http1UpstreamConnection connection() {
        Http1UpstreamConnection attached = connection;
        if (attached == null) {
            throw new IllegalStateException("an exchange without a connection received a response");
        }
        return attached;
    }
}
