package dev.culvert.server.edge;

import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One request and its response, whatever the caller's protocol. Everything happens on the connection's event loop. */
final class EdgeExchange implements ResponseSink {
    /** How long an upgraded exchange may take to end after its caller left: its last bytes may still be on their way. */
    private static final Duration LINGER = Duration.ofSeconds(10);

    private final EdgeStream stream;
    private final long startNanos = System.nanoTime();

    private CharSequence requestId = "";
    private EdgeRuntimes.@Nullable Answerer answerer;
    private @Nullable RequestSink sink;
    private boolean upgrade;
    private boolean requestEnded;
    private boolean awaits100;
    private boolean responseEnded;
    private boolean callerGone;
    private boolean ended;
    /** The WebSocket is closed as soon as a frame may stand there. */
    private boolean cutting;
    private Hop hop = Hop.UPSTREAM;
    private int unforwarded;

    EdgeExchange(EdgeStream stream) {
        this.stream = stream;
        stream.shared().meters().begin();
    }

    void requestId(CharSequence id) {
        requestId = id;
    }

    /** The connection closes behind this exchange. */
    void lastOfConnection() {
        stream.lastOfConnection();
    }

    boolean requestEnded() {
        return requestEnded;
    }

    int unforwarded() {
        return unforwarded;
    }

    // ---- the request ----

    /** The caller sends its body only when it is told to go on (RFC 9110 §10.1.1), or tires of waiting. */
    void bodyAwaits100() {
        awaits100 = true;
    }

    /**
     * Sends the request on its way.
     *
     * @throws dev.culvert.edge.EdgeException when it has none
     */
    void forward(EdgeRequestHead head, ForwardingRules.Peer peer, boolean hasBody) {
        requestId = ForwardingRules.requestId(head.fields());
        EdgeRuntimes.Answerer runtime = stream.shared().route(head, peer);
        RelayRequest.Kind kind = head.upgrade() ? RelayRequest.Kind.UPGRADE : RelayRequest.Kind.HTTP;
        open(runtime, new RelayRequest(kind, head.fields(), !hasBody && !head.upgrade(), stream.loop()),
                !hasBody);
    }

    private void open(EdgeRuntimes.Answerer runtime, RelayRequest request, boolean withoutBody) {
        answerer = runtime;
        upgrade = request.kind() == RelayRequest.Kind.UPGRADE;
        requestEnded = withoutBody;
        if (withoutBody) {
            awaitResponse();
        } else {
            awaitBody();
        }
        RequestSink opened = runtime.relay().open(request, this);
        sink = opened;
        if (responseEnded && !requestEnded) {
            opened.cancel(EdgeProblems.CALLER_GONE);
        }
    }

    void requestData(ByteBuf body) {
        int bytes = body.readableBytes();
        RequestSink to = sink;
        awaits100 = false;
        if (responseEnded || to == null) {
            body.release();
            stream.requestDropped(bytes);
            return;
        }
        unforwarded += bytes;
        if (!stream.isUpgraded()) {
            awaitBody();
        }
        to.data(body);
    }

    void requestEnd(@Nullable Http2Headers trailers) {
        requestEnded = true;
        if (responseEnded) {
            finish();
            return;
        }
        if (stream.isHeadSent()) {
            stream.deadline().clear();
        } else {
            awaitResponse();
        }
        RequestSink to = sink;
        if (to != null) {
            to.end(trailers);
        }
    }

    void malformedBody() {
        if (responseEnded) {
            stream.close(); // where the next request begins can't be told
            return;
        }
        requestEnded = true;
        stream.lastOfConnection();
        giveUp(Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the body is malformed"));
    }

    private void awaitBody() {
        stream.deadline().set(stream.shared().limits().requestBodyIdleTimeout(), this::bodyTooSlow);
    }

    private void bodyTooSlow() {
        if (unforwarded > 0) {
            awaitBody(); // the upstream does not take the body: that is not the caller's silence
            return;
        }
        requestEnded = true; // as far as anybody waits for it
        stream.lastOfConnection();
        giveUp(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the body did not arrive in time"));
    }

    private void awaitResponse() {
        stream.deadline().set(stream.shared().limits().responseHeadTimeout(), this::responseTooSlow);
    }

    private void responseTooSlow() {
        if (unforwarded > 0) {
            awaitResponse(); // the upstream has yet to get the request
            return;
        }
        giveUp(Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
                "the upstream sent no response head in time"));
    }

    /** Ends both halves: the request is cancelled, the caller told why as far as it still can be. */
    private void giveUp(Problem problem) {
        abandon(problem);
        fail(problem);
    }

    private void abandon(Problem problem) {
        RequestSink to = sink;
        sink = null;
        if (to != null) {
            to.cancel(problem);
        }
    }

    /** The server stops, and this exchange has had its time. */
    void cut() {
        if (stream.isUpgraded() && !responseEnded) {
            cutting = true;
            closeWebSocket();
        } else if (!responseEnded && !stream.isHeadSent()) {
            giveUp(EdgeProblems.STOPPING);
        } else {
            abandon(EdgeProblems.STOPPING);
            stream.reset(); // must not look complete
        }
    }

    private void closeWebSocket() {
        if (stream.goAway()) {
            abandon(EdgeProblems.STOPPING);
            webSocketClosed();
        }
    }

    private void webSocketClosed() {
        responseEnded = true;
        stream.lastOfConnection();
        stream.finished();
        end();
    }

    /** The caller's connection is gone. */
    void callerGone() {
        callerGone = true;
        RequestSink to = sink;
        if (to == null || responseEnded) {
            end();
        } else if (stream.isUpgraded() && !cutting) {
            passAll(to);
            endRequest();
            stream.loop().schedule(() -> {
                abandon(EdgeProblems.CALLER_GONE);
                end();
            }, LINGER.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            abandon(EdgeProblems.CALLER_GONE);
            end();
        }
    }

    @Override
    public void consumed(int bytes) {
        if (responseEnded) {
            return;
        }
        unforwarded -= bytes;
        if (requestEnded && !stream.isHeadSent()) {
            awaitResponse();
        }
        if (!callerGone) {
            stream.requestPassedOn(bytes);
        }
    }

    // ---- the response ----

    @Override
    public void informational(Http2Headers head) {
        if (!stream.isHeadSent() && !responseEnded && !callerGone) {
            awaits100 = false;
            stream.informational(head);
        }
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        if (stream.isHeadSent() || responseEnded || callerGone) {
            return;
        }
        if (!stream.canWrite(head, ended, upgrade)) {
            giveUp(EdgeProblems.broken("the response is framed wrongly"));
            return;
        }
        if (requestEnded) {
            stream.deadline().clear();
        }
        closeUnlessBodyComes();
        stream.head(head, ended, upgrade);
        if (stream.isUpgraded()) {
            requestEnded = false;
        } else if (ended) {
            responseDone();
        }
    }

    @Override
    public void data(ByteBuf body) {
        int bytes = body.readableBytes();
        if (!stream.isHeadSent() || responseEnded || callerGone) {
            body.release();
            acknowledge(bytes);
            return;
        }
        if (!stream.data(body)) {
            giveUp(EdgeProblems.broken("the response is longer than its length"));
        } else if (cutting) {
            closeWebSocket();
        }
    }

    /** A caller that was not told to go on may skip its body: the next request would be taken for it. */
    private void closeUnlessBodyComes() {
        if (awaits100) {
            stream.lastOfConnection();
        }
    }

    /** Reports as consumed what the caller's socket has taken. */
    void passedOn() {
        acknowledge(stream.passedOn());
    }

    private void acknowledge(int bytes) {
        RequestSink to = sink;
        if (to != null && bytes > 0) {
            to.consumed(bytes);
        }
    }

    private void endRequest() {
        requestEnded = true;
        RequestSink to = sink;
        if (to != null) {
            to.end(null);
        }
    }

    private void passAll(RequestSink to) {
        int bytes = stream.rest();
        if (bytes > 0) {
            to.consumed(bytes);
        }
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        if (responseEnded) {
            return;
        }
        if (callerGone) {
            responseEnded = true;
            end();
            return;
        }
        if (stream.isUpgraded()) {
            endRequest();
        }
        if (stream.end(trailers)) {
            responseDone();
        } else {
            giveUp(EdgeProblems.broken("the response is shorter than its length"));
        }
    }

    @Override
    public void fail(Problem problem) {
        if (responseEnded) {
            return;
        }
        note(problem);
        sink = null;
        if (callerGone) {
            end();
        } else if (stream.isUpgraded() && problem.cause() == Cause.DRAINING && stream.goAway()) {
            webSocketClosed();
        } else if (stream.isHeadSent()) {
            // docs/problems.md: a truncated response must not look complete
            responseEnded = true;
            stream.reset();
        } else {
            stream.problem(problem, requestId, !requestEnded);
            responseDone();
        }
    }

    /**
     * Answers a request that was not forwarded.
     *
     * @param close whether nothing more can be understood; else the rest of the request is read, and dropped
     * @param withoutBody whether the request is complete
     */
    void refuse(Problem problem, boolean close, boolean withoutBody) {
        note(problem);
        requestEnded = close || withoutBody;
        stream.problem(problem, requestId, close || !withoutBody);
        responseDone();
    }

    private void note(Problem problem) {
        hop = problem.hop();
        stream.shared().telemetry().problem(problem);
    }

    private void responseDone() {
        responseEnded = true;
        RequestSink to = sink;
        if (to != null) {
            passAll(to);
            if (!requestEnded || (upgrade && !stream.isUpgraded())) {
                abandon(EdgeProblems.CALLER_GONE); // a refused upgrade has no end of its own
            }
        }
        unforwarded = 0;
        if (requestEnded || stream.dropRequest()) {
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
        String name = answerer == null ? "" : answerer.name();
        stream.shared().meters().end(name, stream.status(), hop, System.nanoTime() - startNanos);
    }
}
