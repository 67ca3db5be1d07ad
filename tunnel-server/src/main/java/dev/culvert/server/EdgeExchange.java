package dev.culvert.server;

import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.ProblemDocument;
import dev.culvert.edge.relay.RelayRequest;
import dev.culvert.edge.relay.RequestSink;
import dev.culvert.edge.relay.ResponseSink;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.time.Duration;
import java.util.Map;
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
    private final EdgeResponseEncoder encoder;
    private final HttpMethod method;
    private final HttpVersion version;
    private final long startNanos = System.nanoTime();

    private CharSequence requestId = "";
    private EdgeRuntimes.@Nullable Answerer answerer;
    private @Nullable RequestSink sink;
    private boolean keepAlive;
    private boolean upgrade;
    private boolean upgraded;
    private boolean requestEnded;
    private boolean headSent;
    private boolean responseEnded;
    private boolean callerGone;
    private boolean ended;
    private Hop hop = Hop.UPSTREAM;
    private int status;
    private int unforwarded;
    private int discarded;
    private long unconsumed;

    EdgeExchange(EdgeConnection connection, EdgeResponseEncoder encoder, HttpMethod method,
            HttpVersion version,
            boolean keepAlive) {
        this.connection = connection;
        this.encoder = encoder;
        this.method = method;
        this.version = version;
        this.keepAlive = keepAlive;
        connection.shared().meters().begin();
    }

    void requestId(CharSequence id) {
        requestId = id;
    }

    /** The connection closes behind this exchange. */
    void lastOfConnection() {
        keepAlive = false;
    }

    boolean requestEnded() {
        return requestEnded;
    }

    int unforwarded() {
        return unforwarded;
    }

    // ---- the request ----

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
            opened.cancel(cancelled());
        }
    }

    void requestData(ByteBuf body) {
        int bytes = body.readableBytes();
        RequestSink to = sink;
        if (responseEnded || to == null) {
            body.release();
            discarded += bytes;
            if (discarded > DISCARD_BYTES) {
                connection.context().close();
            }
            return;
        }
        unforwarded += bytes;
        if (!upgraded) {
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
        if (!headSent) {
            awaitResponse();
        }
        RequestSink to = sink;
        if (to != null) {
            to.end(trailers.isEmpty() ? null : trailers(trailers));
        }
    }

    private static Http2Headers trailers(HttpHeaders received) {
        Http2Headers trailers = new DefaultHttp2Headers(false, received.size());
        for (Map.Entry<String, String> field : received) {
            trailers.add(AsciiString.of(field.getKey()).toLowerCase(), field.getValue());
        }
        return trailers;
    }

    void malformedBody() {
        Problem problem = Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the body is not valid HTTP/1.1");
        requestEnded = true;
        keepAlive = false;
        abandon(problem);
        fail(problem);
    }

    private void awaitBody() {
        connection.deadline().set(connection.shared().limits().requestBodyIdleTimeout(), this::bodyTooSlow);
    }

    private void bodyTooSlow() {
        if (unforwarded > 0) {
            awaitBody(); // the upstream does not take the body: that is not the caller's silence
            return;
        }
        Problem problem = Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the body did not arrive in time");
        keepAlive = false;
        abandon(problem);
        fail(problem);
    }

    private void awaitResponse() {
        connection.deadline().set(connection.shared().limits().responseHeadTimeout(), this::responseTooSlow);
    }

    private void responseTooSlow() {
        Problem problem = Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
                "the upstream sent no response head in time");
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

    private static Problem cancelled() {
        return Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the caller went away");
    }

    /** The caller's connection is gone. */
    void callerGone() {
        callerGone = true;
        RequestSink to = sink;
        if (to == null || responseEnded) {
            end();
        } else if (upgraded) {
            passAll(to);
            endRequest();
            connection.context().channel().eventLoop().schedule(() -> {
                abandon(cancelled());
                end();
            }, LINGER.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            abandon(cancelled());
            end();
        }
    }

    @Override
    public void consumed(int bytes) {
        unforwarded -= bytes;
        if (!callerGone) {
            connection.regulate();
        }
    }

    // ---- the response ----

    @Override
    public void informational(Http2Headers head) {
        if (headSent || responseEnded || callerGone || version.equals(HttpVersion.HTTP_1_0)) {
            return; // RFC 9110 §15.2: not for HTTP/1.0
        }
        HttpResponseStatus code = HttpResponseStatus.parseLine(head.status());
        connection.context()
                .write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, Unpooled.EMPTY_BUFFER,
                        EdgeResponseHead.headers(head), EdgeResponseHead.none()));
        connection.flushLater();
    }

    @Override
    public void head(Http2Headers head, boolean ended) {
        if (headSent || responseEnded || callerGone) {
            return;
        }
        headSent = true;
        if (requestEnded) {
            connection.deadline().clear();
        }
        HttpResponseStatus code = HttpResponseStatus.parseLine(head.status());
        status = code.code();
        if (upgrade && status == 101) {
            upgraded(head, code);
            return;
        }
        ForwardingRules.response(head, false);
        HttpHeaders headers = EdgeResponseHead.headers(head);
        keepAlive = EdgeResponseHead.frame(headers, status, method, version, ended, keepAlive && !upgrade);
        encoder.answersHead(method.equals(HttpMethod.HEAD));
        ChannelHandlerContext ctx = connection.context();
        ctx.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, code, headers));
        if (ended) {
            ctx.write(LastHttpContent.EMPTY_LAST_CONTENT);
            responseDone();
        }
        connection.flushLater();
    }

    private void upgraded(Http2Headers head, HttpResponseStatus code) {
        upgraded = true;
        requestEnded = false;
        ForwardingRules.response(head, true);
        HttpHeaders headers = EdgeResponseHead.headers(head);
        headers.set("connection", "upgrade");
        headers.set("upgrade", "websocket");
        connection.context()
                .write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, Unpooled.EMPTY_BUFFER, headers,
                        EdgeResponseHead.none()));
        connection.switchToRaw();
    }

    @Override
    public void data(ByteBuf body) {
        int bytes = body.readableBytes();
        if (!headSent || responseEnded || callerGone) {
            body.release();
            acknowledge(bytes);
            return;
        }
        unconsumed += bytes;
        connection.context().write(upgraded ? body : new DefaultHttpContent(body));
        connection.flushLater();
    }

    /** Reports as consumed what the caller's socket has taken. */
    void passedOn() {
        long taken = unconsumed - Math.min(unconsumed, connection.pendingBytes());
        if (taken > 0) {
            unconsumed -= taken;
            acknowledge((int) taken);
        }
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
        if (unconsumed > 0) {
            to.consumed((int) unconsumed);
            unconsumed = 0;
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
        if (upgraded) {
            keepAlive = false;
            endRequest();
        } else {
            connection.context()
                    .write(trailers == null
                            ? LastHttpContent.EMPTY_LAST_CONTENT
                            : new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER,
                                    EdgeResponseHead.headers(trailers)));
        }
        responseDone();
        connection.flushLater();
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
        } else if (headSent) {
            // docs/problems.md: a truncated response must not look complete
            responseEnded = true;
            connection.context().close();
        } else {
            write(problem, !requestEnded);
        }
    }

    /** Answers a request that was not forwarded. */
    void refuse(Problem problem, boolean close) {
        note(problem);
        keepAlive &= !close;
        requestEnded = true;
        write(problem, close);
    }

    private void write(Problem problem, boolean close) {
        headSent = true;
        keepAlive &= !close;
        status = problem.cause().status();
        ProblemDocument document = ProblemDocument.of(problem, requestId.toString());
        HttpHeaders headers = EdgeResponseHead.none();
        document.fields().forEach(field -> headers.set(field.name(), field.value()));
        if (status == 405) {
            headers.set("allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        }
        if (!keepAlive) {
            headers.set("connection", "close");
        }
        encoder.answersHead(method.equals(HttpMethod.HEAD));
        connection.context()
                .write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
                        Unpooled.wrappedBuffer(document.body()), headers, EdgeResponseHead.none()));
        responseDone();
        connection.flushLater();
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
            if (!requestEnded) {
                abandon(cancelled());
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
        connection.finished(!keepAlive);
    }

    private void end() {
        if (ended) {
            return;
        }
        ended = true;
        String name = answerer == null ? "" : answerer.name();
        connection.shared().meters().end(name, status, hop, System.nanoTime() - startNanos);
    }
}
