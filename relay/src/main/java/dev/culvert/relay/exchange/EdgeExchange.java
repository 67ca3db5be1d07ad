package dev.culvert.relay.exchange;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.Caller;
import dev.culvert.relay.HeadCost;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.SmallParts;
import dev.culvert.relay.quota.BudgetedBytes;
import dev.culvert.relay.tls.KeyExchange;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request and its response, in any protocol of the caller. {@link RequestHalf} handles the request; this
 * class handles the response and the end of both. Runs on the connection's event loop.
 *
 * <p>One class, because each way in which a response can end (whole, broken off, refused, cut, its caller
 * gone) must settle the same accounts exactly once: memory, quota, meters, access log and connection.
 */
public final class EdgeExchange implements ResponseSink {
    /**
     * The time that an upgraded exchange has to end after its caller left: its last bytes may still be on
     * their way.
     */
    private static final Duration LINGER = Duration.ofSeconds(10);

    private final EdgeStream stream;
    private final ResponseProgress response;
    private final RequestHalf request;
    /** Joins small parts of the request's body; null before the first one. */
    private @Nullable SmallParts parts;
    private final BudgetedBytes held;
    private final ResponseBody body;
    private final ExchangeRecord record;
    private final String caller;

    private CharSequence requestId = "";
    private EdgeRuntimes.@Nullable RuntimeEndpoint endpoint;
    private boolean upgrade;
    private boolean responseEnded;
    /**
     * The response will be aborted after its written bytes. Until then no later request of the connection is
     * served.
     */
    private boolean breaking;
    private boolean callerGone;
    private boolean ended;
    /** The reason to close the WebSocket at the next frame boundary. */
    private @Nullable Problem closing;

    /** @param facts the properties of the request before it is processed */
    public EdgeExchange(EdgeStream stream, RequestFacts facts) {
        this.stream = stream;
        this.response = stream.response();
        this.held = new BudgetedBytes(stream.loop(), this::report, this::giveWay);
        this.request = new RequestHalf(stream, held, this::giveUp);
        this.caller = facts.caller();
        this.body = new ResponseBody(stream, held, this::written, this::cutReader);
        this.record = new ExchangeRecord(stream.shared(), facts);
        response.problemsAs(facts.accept());
    }

    public void requestId(CharSequence id) {
        requestId = id;
    }

    /** Closes the connection after this exchange. */
    public void lastOfConnection() {
        stream.lastOfConnection();
    }

    public boolean requestEnded() {
        return request.isEnded();
    }

    /** The bytes of the request's body that wait for the upstream, or for memory. */
    public int unforwarded() {
        return request.unforwarded() + held.owedRequest();
    }

    /**
     * Whether reading of the request must stop because memory is short. The stream is notified when that
     * ends.
     */
    public boolean isStopped() {
        return !request.isEnded() && held.isStopped();
    }

    // ---- the request ----

    /** The caller sends its body only after a 100 response (RFC 9110 §10.1.1), or after its own time-out. */
    public void bodyAwaits100() {
        request.awaits100();
    }

    /** Forwards the request. Throws {@link dev.culvert.http.problem.EdgeException} if it is refused. */
    public void forward(EdgeRequestHead head, ForwardingRules.Peer peer, boolean hasBody) {
        requestId = ForwardingRules.requestId(head.fields());
        EdgeRuntimes.RuntimeEndpoint runtime = stream.shared().route(head, peer);
        endpoint = runtime;
        held.of(runtime.quota().memory(), caller);
        runtime.quota().admit(held, hasBody ? head.bodyBytes() : 0, response::carry);
        held.takeHead(HeadCost.of(head.fields()));
        upgrade = head.upgrade();
        RelayRequest.Kind kind = upgrade ? RelayRequest.Kind.UPGRADE : RelayRequest.Kind.HTTP;
        InetAddress address = stream.shared().rules().caller(head.fields(), peer);
        request.open(runtime, new RelayRequest(kind, head.fields(), !hasBody && !upgrade, stream.loop(),
                new Caller(address, ForwardingRules.account(address, peer), stream.channel())), this,
                !hasBody);
        if (responseEnded && !request.isEnded()) {
            request.abandon(EdgeProblems.CALLER_GONE);
        }
    }

    public void requestData(ByteBuf body) {
        SmallParts joining = parts;
        if (joining == null) {
            joining = new SmallParts(stream.loop(), this::requestPart);
            parts = joining;
        }
        joining.data(body, request.unforwarded() > 0);
    }

    /** Forwards what was joined of the request's body. */
    private void flushParts() {
        if (parts != null) {
            parts.flush();
        }
    }

    private void requestPart(ByteBuf body) {
        if (responseEnded) {
            request.drop(body);
            return;
        }
        held.take(body.readableBytes());
        request.data(body);
        record.passes(request);
        if (request.isTooLong()) {
            giveUp(request.bodyTooLong());
        } else {
            requireRoom();
        }
    }

    /** Ends the exchange if windows granted more bytes, before memory was short, than there is room for. */
    private void requireRoom() {
        if (!responseEnded && held.isTooMuch()) {
            giveWay();
        }
    }

    public void requestEnd(@Nullable Http2Headers trailers) {
        flushParts();
        if (responseEnded) {
            request.ended(true);
            if (!breaking) {
                finish();
            }
        } else {
            hold(trailers);
            request.end(trailers);
            record.passes(request);
            requireRoom();
        }
    }

    /** Counts trailers, which wait for the bytes before them. */
    private void hold(@Nullable Http2Headers trailers) {
        if (trailers != null) {
            held.takeHead(HeadCost.of(trailers));
        }
    }

    public void malformedBody(Problem problem) {
        if (responseEnded) {
            stream.close(); // the start of the next request is unknown
            return;
        }
        request.ended(true);
        stream.lastOfConnection();
        giveUp(problem);
    }

    @Override
    public void consumed(int bytes) {
        if (!responseEnded) {
            held.give(bytes);
            request.consumed(bytes);
            held.taken(bytes, 0);
            record.passes(request);
        }
    }

    private void report(int requestBytes, int responseBytes) {
        request.acknowledge(responseBytes);
        if (!callerGone && !ended) {
            stream.requestPassedOn(requestBytes);
        }
    }

    // ---- the response ----

    @Override
    public void opened() {
        record.times().opened();
    }

    @Override
    public void carriedBy(@Nullable KeyExchange tls) {
        record.carriedBy(tls);
    }

    @Override
    public void times(int routerMicros, int upstreamMicros) {
        record.times().behind(routerMicros, upstreamMicros);
    }

    @Override
    public void informational(Http2Headers head) {
        // a caller that does not read would only collect them, and the final head carries the result
        if (!response.isHeadSent() && !responseEnded && !callerGone && stream.channel().isWritable()) {
            request.goOn();
            stream.informational(head);
        }
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        if (response.isHeadSent() || responseEnded || callerGone) {
            return;
        }
        if (!response.isSound(head, ended, upgrade)) {
            giveUp(EdgeProblems.broken("the response's framing is not valid"));
            return;
        }
        request.answered();
        if (request.maySkipBody()) {
            stream.lastOfConnection();
        }
        record.answers(head);
        response.fields().forEach(field -> head.add(field.name(), field.value()));
        if (!stream.channel().isWritable()) {
            held.takeHead(HeadCost.of(head)); // it waits behind earlier bytes
        }
        stream.head(head, ended, upgrade);
        if (response.isUpgraded()) {
            request.ended(false);
        } else if (ended) {
            responseDone();
        }
        requireRoom();
    }

    @Override
    public void data(ByteBuf body) {
        int bytes = body.readableBytes();
        if (!response.isHeadSent() || responseEnded || callerGone || response.isBodiless()) {
            body.release();
            request.acknowledge(bytes);
        } else if (!response.take(body)) {
            body.release();
            giveUp(EdgeProblems.broken("the response is longer than its Content-Length"));
        } else {
            this.body.data(body, Objects.requireNonNull(endpoint).quota());
            requireRoom();
        }
    }

    /** Reports the bytes that the caller's socket has accepted as consumed. */
    public void passedOn() {
        body.passedOn();
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (responseEnded) {
            return;
        }
        if (callerGone) {
            responseEnded = true;
            record.completed(); // a WebSocket: its caller often leaves first
            end();
            return;
        }
        if (response.isUpgraded()) {
            flushParts();
            request.pass(null);
        }
        if (response.mayEnd()) {
            hold(trailers);
            body.end(() -> complete(trailers));
        } else {
            giveUp(EdgeProblems.broken("the response is shorter than its Content-Length"));
        }
    }

    private void written() {
        Problem why = closing;
        if (why != null && !responseEnded) {
            closeWebSocket(why);
        }
    }

    /** Memory is short, and the caller's address holds more of it than other addresses that need some. */
    private void giveWay() {
        if (!responseEnded && !response.isHeadSent()) {
            giveUp(EdgeProblems.GAVE_WAY);
        } else {
            cutReader();
        }
    }

    /** Resets the exchange of a caller that accepts no bytes for too long, also when it is over. */
    private void cutReader() {
        stream.shared().meters().unread(caller);
        if (ended) {
            stream.reset();
            return;
        }
        record.problem(EdgeProblems.TOO_SLOW);
        request.abandon(EdgeProblems.TOO_SLOW);
        responseEnded = true;
        body.drop();
        reset();
    }

    private void reset() {
        record.cut();
        stream.reset();
    }

    private void complete(@Nullable Http2Headers trailers) {
        stream.end(trailers);
        responseDone();
    }

    /** Fails the response. The caller receives the bytes before the failure, then sees the failure. */
    @Override
    public void fail(Problem problem) {
        if (responseEnded) {
            return;
        }
        record.problem(problem);
        request.refused();
        if (callerGone) {
            body.drop();
            end();
        } else if (response.isUpgraded() && problem.cause() == Cause.DRAINING && goAway()) {
            webSocketClosed();
        } else if (response.isHeadSent()) {
            responseEnded = true;
            breaking = true;
            record.cut();
            body.end(() -> stream.whenWritten(() -> breakOff(problem)));
        } else {
            answer(problem, !request.isEnded());
        }
    }

    /** docs/problems.md: a truncated response must not look complete. */
    private void breakOff(Problem problem) {
        if (!ended && !callerGone && stream.breakOff(problem)) {
            finish();
        }
    }

    /**
     * Answers a request that was not forwarded.
     *
     * @param close whether later bytes of the connection cannot be parsed; if not, the rest of the request is
     *     read and dropped
     * @param withoutBody whether the request is complete
     */
    public void refuse(Problem problem, boolean close, boolean withoutBody) {
        record.problem(problem);
        request.ended(close || withoutBody);
        answer(problem, close || !withoutBody);
    }

    private void answer(Problem problem, boolean close) {
        record.answers(problem, response);
        stream.problem(problem, requestId, close);
        responseDone();
    }

    // ---- the end ----

    /** Ends both halves: cancels the request, and reports the problem to the caller as far as possible. */
    private void giveUp(Problem problem) {
        request.abandon(problem);
        if (!responseEnded && !callerGone && response.isHeadSent()) {
            record.problem(problem);
            breakOffNow(problem);
        } else {
            fail(problem);
        }
    }

    private void breakOffNow(Problem problem) {
        responseEnded = true;
        record.cut();
        body.drop();
        breakOff(problem);
    }

    /** Ends the exchange because the server stops and its grace is over. */
    public void cut() {
        if (response.isUpgraded() && !responseEnded) {
            closing = EdgeProblems.STOPPING;
            closeWebSocket(EdgeProblems.STOPPING);
        } else if (!responseEnded && !response.isHeadSent()) {
            giveUp(EdgeProblems.STOPPING);
        } else if (responseEnded) {
            request.abandon(EdgeProblems.STOPPING);
            reset();
        } else {
            request.abandon(EdgeProblems.STOPPING);
            breakOffNow(EdgeProblems.STOPPING);
        }
    }

    /**
     * Closes a WebSocket with Close 1001 between two frames. Other responses see the end of the connection
     * itself.
     */
    @Override
    public void ending(Problem problem) {
        if (response.isUpgraded() && !responseEnded && !callerGone && closing == null) {
            closing = problem;
            closeWebSocket(problem);
        }
    }

    private void closeWebSocket(Problem why) {
        if (goAway()) {
            record.problem(why);
            request.abandon(why);
            webSocketClosed();
        }
    }

    /**
     * Sends Close 1001 to the caller's WebSocket because the upstream's side goes away. Returns false if the
     * stream is not at a frame boundary.
     */
    private boolean goAway() {
        if (!response.isBetweenFrames() || body.isWaiting()) {
            return false;
        }
        stream.goAway();
        return true;
    }

    private void webSocketClosed() {
        responseEnded = true;
        record.cut();
        stream.lastOfConnection();
        stream.finished();
        end();
    }

    /** The caller's connection closed. */
    public void callerGone() {
        callerGone = true;
        body.drop();
        if (!request.isTaken() || responseEnded) {
            end();
        } else if (response.isUpgraded() && closing == null) {
            flushParts();
            request.acknowledge(body.rest());
            request.pass(null);
            stream.loop().schedule(() -> {
                request.abandon(EdgeProblems.CALLER_GONE);
                end();
            }, LINGER.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            request.abandon(EdgeProblems.CALLER_GONE);
            end();
        }
    }

    private void responseDone() {
        responseEnded = true;
        record.completed();
        if (request.isTaken()) {
            request.acknowledge(body.rest());
            if (!request.isEnded() || (upgrade && !response.isUpgraded())) {
                request.abandon(EdgeProblems.CALLER_GONE); // a refused upgrade has no end of its own
            }
        }
        request.settle();
        if (request.isEnded() || stream.dropRequest()) {
            finish();
        }
    }

    private void finish() {
        end();
        stream.finished();
    }

    private void end() {
        if (ended) {
            return;
        }
        ended = true;
        if (parts != null) {
            parts.close();
        }
        body.close(callerGone);
        String name = endpoint == null ? "" : endpoint.name();
        if (endpoint != null) {
            stream.shared().meters().usage(name, endpoint.quota().usage());
        }
        record.end(name, requestId, response, request.received(), stream.channel());
    }
}
