package dev.culvert.server;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One request and its response on a caller's HTTP/1.1 connection. Everything happens on the connection's event loop. */
final class EdgeExchange implements ResponseSink {
    /** What is read and dropped of a request whose response is complete, so that the caller gets to see that response. */
    private static final int DISCARD_BYTES = 1 << 20;
    private static final Duration DISCARD_TIME = Duration.ofSeconds(5);
    /** How long an upgraded exchange may take to end after its caller left: its last bytes may still be on their way. */
    private static final Duration LINGER = Duration.ofSeconds(10);

    private final EdgeConnection connection;
    private final EdgeResponseWriter writer;
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
    private int discarded;

    EdgeExchange(EdgeConnection connection, EdgeResponseWriter writer) {
        this.connection = connection;
        this.writer = writer;
        connection.shared().meters().begin();
    }

    void requestId(CharSequence id) {
        requestId = id;
    }

    /** The connection closes behind this exchange. */
    void lastOfConnection() {
        writer.lastOfConnection();
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

    void open(EdgeRuntimes.Answerer runtime, RelayRequest request, boolean withoutBody) {
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
            discarded += bytes;
            if (discarded > DISCARD_BYTES) {
                connection.context().close();
            }
            return;
        }
        unforwarded += bytes;
        if (!writer.isUpgraded()) {
            awaitBody();
        }
        to.data(body);
    }

    void requestEnd(HttpHeaders trailers) {
        requestEnded = true;
        if (responseEnded) {
            finish();
            return;
        }
        if (writer.isHeadSent()) {
            connection.deadline().clear();
        } else {
            awaitResponse();
        }
        RequestSink to = sink;
        if (to != null) {
            to.end(trailers.isEmpty() ? null : EdgeRequestHead.trailers(trailers));
        }
    }

    void malformedBody() {
        if (responseEnded) {
            connection.context().close(); // where the next request begins can't be told
            return;
        }
        requestEnded = true;
        writer.lastOfConnection();
        giveUp(Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the body is not valid HTTP/1.1"));
    }

    private void awaitBody() {
        connection.deadline().set(connection.shared().limits().requestBodyIdleTimeout(), this::bodyTooSlow);
    }

    private void bodyTooSlow() {
        if (unforwarded > 0) {
            awaitBody(); // the upstream does not take the body: that is not the caller's silence
            return;
        }
        requestEnded = true; // as far as anybody waits for it
        writer.lastOfConnection();
        giveUp(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the body did not arrive in time"));
    }

    private void awaitResponse() {
        connection.deadline().set(connection.shared().limits().responseHeadTimeout(), this::responseTooSlow);
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
        if (writer.isUpgraded() && !responseEnded) {
            cutting = true;
            closeWebSocket();
        } else if (!responseEnded && !writer.isHeadSent()) {
            giveUp(EdgeProblems.STOPPING);
        } else {
            abandon(EdgeProblems.STOPPING);
            connection.reset(); // must not look complete
        }
    }

    private void closeWebSocket() {
        if (writer.goAway()) {
            responseEnded = true;
            abandon(EdgeProblems.STOPPING);
            connection.finished(true);
            end();
        }
    }

    /** The caller's connection is gone. */
    void callerGone() {
        callerGone = true;
        RequestSink to = sink;
        if (to == null || responseEnded) {
            end();
        } else if (writer.isUpgraded() && !cutting) {
            passAll(to);
            endRequest();
            connection.context().channel().eventLoop().schedule(() -> {
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
        if (requestEnded && !writer.isHeadSent()) {
            awaitResponse();
        }
        if (!callerGone) {
            connection.regulate();
        }
    }

    // ---- the response ----

    @Override
    public void informational(Http2Headers head) {
        if (!writer.isHeadSent() && !responseEnded && !callerGone) {
            awaits100 = false;
            writer.informational(head);
        }
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        if (writer.isHeadSent() || responseEnded || callerGone) {
            return;
        }
        if (!writer.canWrite(head, ended, upgrade)) {
            giveUp(EdgeProblems.broken("the response is framed wrongly"));
            return;
        }
        if (requestEnded) {
            connection.deadline().clear();
        }
        closeUnlessBodyComes();
        writer.head(head, ended, upgrade);
        if (writer.isUpgraded()) {
            requestEnded = false;
        } else if (ended) {
            responseDone();
        }
    }

    @Override
    public void data(ByteBuf body) {
        int bytes = body.readableBytes();
        if (!writer.isHeadSent() || responseEnded || callerGone) {
            body.release();
            acknowledge(bytes);
            return;
        }
        if (!writer.data(body)) {
            giveUp(EdgeProblems.broken("the response is longer than its length"));
        } else if (cutting) {
            closeWebSocket();
        }
    }

    /** A caller that was not told to go on may skip its body: the next request would be taken for it. */
    private void closeUnlessBodyComes() {
        if (awaits100) {
            writer.lastOfConnection();
        }
    }

    /** Reports as consumed what the caller's socket has taken. */
    void passedOn() {
        acknowledge(writer.passedOn());
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
        int bytes = writer.rest();
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
        if (writer.isUpgraded()) {
            endRequest();
        }
        if (writer.end(trailers)) {
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
        } else if (writer.isHeadSent()) {
            // docs/problems.md: a truncated response must not look complete
            responseEnded = true;
            connection.reset();
        } else {
            writer.problem(problem, requestId, !requestEnded);
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
        writer.problem(problem, requestId, close || !withoutBody);
        responseDone();
    }

    private void note(Problem problem) {
        hop = problem.hop();
        connection.shared().telemetry().problem(problem);
    }

    private void responseDone() {
        responseEnded = true;
        RequestSink to = sink;
        if (to != null) {
            passAll(to);
            if (!requestEnded || (upgrade && !writer.isUpgraded())) {
                abandon(EdgeProblems.CALLER_GONE); // a refused upgrade has no end of its own
            }
        }
        if (requestEnded) {
            finish();
        } else {
            unforwarded = 0;
            connection.deadline().set(DISCARD_TIME, () -> connection.context().close());
            connection.regulate();
        }
    }

    private void finish() {
        end();
        connection.finished(!writer.isKeptAlive());
    }

    private void end() {
        if (ended) {
            return;
        }
        ended = true;
        String name = answerer == null ? "" : answerer.name();
        connection.shared().meters().end(name, writer.status(), hop, System.nanoTime() - startNanos);
    }
}
