package dev.culvert.relay.outbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.upstream.DroppedBytes;
import dev.culvert.relay.upstream.ExchangeTimes;
import dev.culvert.relay.upstream.ResponseCredit;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamProblem;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One exchange with an HTTP/1.1 upstream: the asker's calls on one side, a connection on the other. Belongs
 * to the exchange's event loop.
 *
 * <pre>
 * waiting ─► dialling ─► writing ─► head ─► body ─► ended ─┬─► kept (request written, response framed)
 *    │          │          │         │ 101    │            ├─► closed (anything else)
 *    │          │          │         ▼        │            └─► writing on (request not ended yet)
 *    │          │          │        raw ──────┤
 *    └──────────┴──────────┴──────────────────┴─► failed or cancelled: connection closed
 * </pre>
 */
final class Http1Exchange implements RequestSink {
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

    private final Http1Pool pool;
    private final RelayRequest request;
    private final UpstreamCall outgoing;
    private final ResponseSink response;
    private final Http1RequestBody body;
    private final ResponseCredit credit;
    private final DroppedBytes dropped;
    private final ExchangeTimes times = new ExchangeTimes();

    private @Nullable Http1UpstreamConnection connection;
    private @Nullable ScheduledFuture<?> patience;
    private boolean retried;
    private int informational;
    /**
     * The head being received is informational or a 101, so the end of its message is not the end of the
     * response.
     */
    private boolean betweenHeads;
    private boolean headSeen;
    private boolean bodiless;
    private boolean keepConnection;
    private boolean endsWithConnection;
    private boolean raw;
    private boolean responseEnded;
    /** The exchange is over: the asker receives only reports of consumed bytes. */
    private boolean over;
    /** The asker receives no reports of consumed bytes either. */
    private boolean mute;

    Http1Exchange(Http1Pool pool, RelayRequest request, UpstreamCall outgoing, ResponseSink response) {
        this.pool = pool;
        this.request = request;
        this.outgoing = outgoing;
        this.response = response;
        this.body = new Http1RequestBody(this, request, pool.buffered());
        this.credit = new ResponseCredit(pool.buffered());
        this.dropped = new DroppedBytes(request.loop(), this::requestConsumed);
    }

    boolean isOver() {
        return over;
    }

    /** Starts the exchange, or fails it if the head is not valid. */
    void start() {
        CharSequence method = request.fields().method();
        if (method == null || body.isContradictory()) {
            fail(UpstreamProblem.badRequest("the request's head contradicts its body"));
        } else if (Http1UpstreamRequest.isForUs(method)) {
            fail(UpstreamProblem.methodNotAllowed(method));
        } else {
            pool.acquire(this);
        }
    }

    // ---- the way to a connection ----

    /**
     * Starts the connect time-out: the exchange waits for a connection, and fails with {@code otherwise} when
     * the time is up.
     */
    void await(Problem otherwise) {
        stopWaiting();
        patience = request.loop()
                .schedule(() -> fail(otherwise), pool.limits().connectTimeout().toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    private void stopWaiting() {
        if (patience != null) {
            patience.cancel(false);
            patience = null;
        }
    }

    /** Takes a connection, and writes the head and the body bytes held so far. */
    void attach(Http1UpstreamConnection taken) {
        stopWaiting();
        times.attached();
        CharSequence method = request.fields().method();
        ByteBuf head = Http1UpstreamRequest.encode(taken.allocator(), request, outgoing,
                body.headFields(method == null ? "" : method));
        if (head == null) {
            taken.close();
            fail(UpstreamProblem.badRequest("the request's head is not valid HTTP"));
            return;
        }
        connection = taken;
        taken.begin(this, Http1UpstreamRequest.isHead(request));
        body.start(taken, head);
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
        }
    }

    private void contradicted(String detail) {
        if (responseEnded) {
            giveUp();
        } else {
            fail(UpstreamProblem.badRequest(detail));
        }
    }

    @Override
    public void cancel(Problem reason) {
        if (!over) {
            mute = true;
            giveUp();
        }
    }

    /** Request bytes were written. */
    void requestConsumed(int bytes) {
        if (!mute && bytes > 0) {
            response.consumed(bytes);
        }
    }

    /** Request bytes were dropped. They are reported later, because the asker may respond with more bytes. */
    void requestDropped(int bytes) {
        dropped.add(bytes);
    }

    /** The whole request was written. */
    void requestWritten() {
        Http1UpstreamConnection upstream = connection;
        if (upstream == null) {
            return;
        }
        if (responseEnded) {
            giveUp();
        } else if (raw) {
            upstream.endOutput();
        } else if (!headSeen) {
            times.requestWritten();
            upstream.deadline().set(outgoing.headTimeout(pool.limits()), () -> fail(UpstreamProblem.TIMEOUT));
        }
    }

    /**
     * The upstream accepts no more of the request. It may have sent a response with the reason, which may
     * still arrive.
     */
    void requestBroken() {
        Http1UpstreamConnection upstream = connection;
        if (over || upstream == null) {
            return;
        }
        body.discard();
        if (responseEnded) {
            giveUp();
        } else if (!headSeen) {
            upstream.deadline().set(LINGER, this::reset);
        }
    }

    // ---- the response ----

    /** Receives a response head. Informational ones end like others, with an empty body. */
    void head(HttpResponse head) {
        if (headSeen || !Http1UpstreamResponse.isValid(head)) {
            badResponse();
            return;
        }
        int status = head.status().code();
        betweenHeads = status < 200;
        if (status == 101) {
            if (request.kind() == Kind.UPGRADE) {
                headSeen = true;
                connection().answered();
                connection().deadline().clear();
                times.tell(response);
                response.head(Http1UpstreamResponse.of(head, true), false);
            } else {
                badResponse();
            }
        } else if (status < 200) {
            if (++informational > MAX_INFORMATIONAL) {
                badResponse();
            } else {
                response.informational(Http1UpstreamResponse.of(head, false));
            }
        } else {
            finalHead(head);
        }
    }

    private void finalHead(HttpResponse head) {
        headSeen = true;
        connection().answered();
        connection().deadline().clear();
        bodiless = Http1UpstreamResponse.isBodiless(head, Http1UpstreamRequest.isHead(request));
        endsWithConnection = !bodiless && !Http1UpstreamResponse.isFramed(head);
        keepConnection = !endsWithConnection && HttpUtil.isKeepAlive(head) && body.isWritten();
        connection().keepFor(head);
        if (request.kind() == Kind.UPGRADE) {
            body.discard();
        }
        times.tell(response);
        response.head(Http1UpstreamResponse.of(head, false), bodiless);
    }

    /** Receives response bytes, of a body or raw. Takes ownership of {@code part}. */
    void responseData(ByteBuf part) {
        int bytes = part.readableBytes();
        if (over || !headSeen || responseEnded || bytes == 0) {
            part.release();
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
        if (over || responseEnded) {
            return;
        }
        credit.consumed(bytes);
        Http1UpstreamConnection upstream = connection;
        if (upstream != null && credit.isThere()) {
            upstream.resume();
        }
    }

    /** Receives the end of a message. */
    void responseEnd(HttpHeaders trailers) {
        if (betweenHeads) {
            betweenHeads = false;
            if (headSeen) {
                raw = true;
                connection().switchToRaw();
                body.startRaw();
            }
            return;
        }
        if (endsWithConnection && !connection().isEndedByPeer()) {
            reset();
        } else {
            endResponse(trailers.isEmpty() ? null : Http1UpstreamResponse.trailers(trailers));
        }
    }

    /** Ends the response. With raw bytes, the asker's half may continue. */
    private void endResponse(@Nullable Http2Headers trailers) {
        responseEnded = true;
        credit.forget();
        Http1UpstreamConnection upstream = connection();
        if (keepConnection) {
            connection = null;
            over = true;
            upstream.release();
        } else if (body.isWritten() || (request.kind() == Kind.UPGRADE && !raw)) {
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
        if (over || upstream == null) {
            return;
        }
        if (raw && !dead) {
            if (!responseEnded) {
                endResponse(null);
            }
        } else if (responseEnded) {
            if (dead) {
                giveUp();
            }
        } else if (isRepeatable(upstream)) {
            retried = true;
            connection = null;
            upstream.close();
            pool.acquireNew(this);
        } else {
            reset();
        }
    }

    /**
     * Whether the request may be sent again: only a safe one (RFC 9110 §9.2.2). An upstream may close an idle
     * connection while the gateway writes to it.
     */
    private boolean isRepeatable(Http1UpstreamConnection upstream) {
        return !retried && !headSeen && request.ended() && request.kind() == Kind.HTTP && upstream.isReused()
                && !upstream.isReceiving() && Http1UpstreamRequest.isSafe(request);
    }

    private void reset() {
        fail(headSeen ? UpstreamProblem.BROKEN_RESPONSE : UpstreamProblem.NO_RESPONSE);
    }

    /** Fails the exchange: the received bytes are not valid HTTP. */
    void badResponse() {
        if (responseEnded) {
            giveUp();
        } else {
            fail(UpstreamProblem.BAD_RESPONSE);
        }
    }

    /** Ends the response with a problem, or with a response on behalf of the upstream. */
    void fail(Problem problem) {
        if (over || responseEnded) {
            giveUp();
            return;
        }
        if (connection != null && !headSeen && problem.hop() == Problem.Hop.UPSTREAM) {
            connection.failed();
        }
        responseEnded = true;
        mute = true;
        giveUp();
        boolean answered = !headSeen && outgoing.away() != null && outgoing.away().answer(problem, response);
        mute = !answered;
        if (!answered) {
            response.fail(problem);
        }
    }

    /** Releases everything. The caller has notified the asker. */
    private void giveUp() {
        if (over) {
            return;
        }
        over = true;
        credit.forget();
        stopWaiting();
        Http1UpstreamConnection upstream = connection;
        connection = null;
        body.discard();
        if (upstream != null) {
            upstream.close();
        } else {
            pool.forget(this);
        }
    }

    private Http1UpstreamConnection connection() {
        Http1UpstreamConnection attached = connection;
        if (attached == null) {
            throw new IllegalStateException("an exchange without a connection received a response");
        }
        return attached;
    }
}
