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
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes one response in HTTP/1.1's form, and knows how much of its body the caller's socket has not taken. Everything
 * happens on the connection's event loop; what is written leaves at the end of the event-loop pass.
 */
final class EdgeResponseWriter {
    /** RFC 6455 §5.5.1, §7.4.1: Close, not masked, 1001. */
    private static final byte[] GOING_AWAY = {(byte) 0x88, 2, 0x03, (byte) 0xe9};

    private final EdgeConnection connection;
    private final EdgeResponseEncoder encoder;
    private final HttpMethod method;
    private final HttpVersion version;

    private boolean keepAlive;
    private boolean headSent;
    private boolean upgraded;
    private @Nullable WebSocketBoundary boundary;
    private int status;
    private long unconsumed;
    /** Body bytes that must still come; below 0 when nobody said how many. */
    private long due = -1;

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
     * Whether HTTP/1.1 can say this head in one way only. Runtimes are not trusted with the connection: another runtime's
     * answer may follow on it.
     */
    boolean canWrite(Http2Headers head, boolean ended, boolean upgrade) {
        boolean switches = "101".contentEquals(head.status());
        List<CharSequence> lengths = head.getAll(HttpHeaderNames.CONTENT_LENGTH);
        if (switches || lengths.isEmpty()) {
            return !switches || upgrade;
        }
        long length = lengths.size() == 1 ? EdgeResponseHead.length(lengths.getFirst()) : -1;
        boolean whole = !ended || length == 0 || isBodiless(head.status());
        return length >= 0 && whole;
    }

    private boolean isBodiless(CharSequence code) {
        return method.equals(HttpMethod.HEAD) || "204".contentEquals(code) || "304".contentEquals(code);
    }

    /**
     * Writes the final head, one that {@link #canWrite}.
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
        String length = headers.get(HttpHeaderNames.CONTENT_LENGTH);
        due = length == null || isBodiless(head.status()) ? -1 : EdgeResponseHead.length(length);
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
        boundary = new WebSocketBoundary();
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

    /** Writes body bytes. Takes ownership of {@code body}. False when they are more than the head said. */
    boolean data(ByteBuf body) {
        int bytes = body.readableBytes();
        if (due >= 0 && bytes > due) {
            body.release();
            return false;
        }
        due -= due < 0 ? 0 : bytes;
        unconsumed += bytes;
        WebSocketBoundary frames = boundary;
        if (frames != null) {
            frames.pass(body);
        }
        context().write(upgraded ? body : new DefaultHttpContent(body));
        connection.flushLater();
        return true;
    }

    /**
     * Ends the response, but for an upgraded one: the end of its connection is its own. False when bytes are missing that
     * the head said.
     */
    boolean end(@Nullable Http2Headers trailers) {
        if (due > 0) {
            return false;
        }
        if (!upgraded) {
            context().write(trailers == null
                    ? LastHttpContent.EMPTY_LAST_CONTENT
                    : new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, EdgeResponseHead.headers(trailers)));
        }
        connection.flushLater();
        return true;
    }

    /**
     * Closes the caller's WebSocket because its end of the way goes, if a frame may stand here.
     *
     * @return whether it was done
     */
    boolean goAway() {
        if (boundary == null || !boundary.isReached()) {
            return false;
        }
        context().writeAndFlush(Unpooled.wrappedBuffer(GOING_AWAY));
        return true;
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
