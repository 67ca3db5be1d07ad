package dev.culvert.server;

import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.ProblemDocument;
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
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * Writes one response in HTTP/1.1's form, and knows how much of its body the caller's socket has not taken. Everything
 * happens on the connection's event loop; what is written leaves at the end of the event-loop pass.
 */
final class EdgeResponseWriter {
    private final EdgeConnection connection;
    private final EdgeResponseEncoder encoder;
    private final HttpMethod method;
    private final HttpVersion version;

    private boolean keepAlive;
    private boolean headSent;
    private boolean upgraded;
    private int status;
    private long unconsumed;

    EdgeResponseWriter(EdgeConnection connection, EdgeResponseEncoder encoder, HttpMethod method,
            HttpVersion version, boolean keepAlive) {
        this.connection = connection;
        this.encoder = encoder;
        this.method = method;
        this.version = version;
        this.keepAlive = keepAlive;
    }

    /** Whether the connection can serve another request afterwards. */
    boolean isKeptAlive() {
        return keepAlive;
    }

    /** The connection closes behind this response. */
    void lastOfConnection() {
        keepAlive = false;
    }

    /** Whether the final head was written. */
    boolean isHeadSent() {
        return headSent;
    }

    /** Whether this was a 101: the body is raw bytes. */
    boolean isUpgraded() {
        return upgraded;
    }

    /** The status code of the final head; 0 before it. */
    int status() {
        return status;
    }

    void informational(Http2Headers head) {
        if (version.equals(HttpVersion.HTTP_1_0)) {
            return; // RFC 9110 §15.2: not for HTTP/1.0
        }
        HttpResponseStatus code = HttpResponseStatus.parseLine(head.status());
        context().write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, Unpooled.EMPTY_BUFFER,
                EdgeResponseHead.headers(head), EdgeResponseHead.none()));
        connection.flushLater();
    }

    /**
     * Writes the final head.
     *
     * @param upgrade whether the request asked for an upgrade: 101 is an answer to it
     */
    void head(Http2Headers head, boolean ended, boolean upgrade) {
        headSent = true;
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
        context().write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, code, headers));
        if (ended) {
            context().write(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        connection.flushLater();
    }

    private void upgraded(Http2Headers head, HttpResponseStatus code) {
        upgraded = true;
        keepAlive = false;
        ForwardingRules.response(head, true);
        HttpHeaders headers = EdgeResponseHead.headers(head);
        headers.set("connection", "upgrade");
        headers.set("upgrade", "websocket");
        context()
                .write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, Unpooled.EMPTY_BUFFER, headers,
                        EdgeResponseHead.none()));
        connection.switchToRaw();
    }

    /** Writes body bytes. Takes ownership of {@code body}. */
    void data(ByteBuf body) {
        unconsumed += body.readableBytes();
        context().write(upgraded ? body : new DefaultHttpContent(body));
        connection.flushLater();
    }

    /** Ends the response, but for an upgraded one: the end of its connection is its own. */
    void end(@Nullable Http2Headers trailers) {
        if (!upgraded) {
            context().write(trailers == null
                    ? LastHttpContent.EMPTY_LAST_CONTENT
                    : new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, EdgeResponseHead.headers(trailers)));
        }
        connection.flushLater();
    }

    /** Writes a problem as the whole response. */
    void problem(Problem problem, CharSequence requestId, boolean close) {
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
        context().write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
                Unpooled.wrappedBuffer(document.body()), headers, EdgeResponseHead.none()));
        connection.flushLater();
    }

    /** The body bytes that the caller's socket has taken since the last call. */
    int passedOn() {
        return take(unconsumed - Math.min(unconsumed, connection.pendingBytes()));
    }

    /** The body bytes that no call has reported yet, taken or not: nobody waits for them any more. */
    int rest() {
        return take(unconsumed);
    }

    private int take(long bytes) {
        unconsumed -= bytes;
        return (int) bytes;
    }

    private ChannelHandlerContext context() {
        return connection.context();
    }
}
