package dev.culvert.relay.inbound.http1;

import dev.culvert.http.fields.CanonicalName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeStream;
import dev.culvert.relay.exchange.ResponseProgress;
import dev.culvert.relay.exchange.WebSocketBoundary;
import dev.culvert.relay.listen.Deadline;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
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
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * One exchange on an HTTP/1.1 connection. Writes the response, and counts the bytes that the caller's socket
 * has not accepted.
 */
final class Http1EdgeStream implements EdgeStream {
    private final Http1EdgeConnection connection;
    private final Http1ResponseEncoder encoder;
    private final HttpMethod method;
    private final ResponseProgress response;
    private final HttpVersion version;

    private final BodyWriter writer = new BodyWriter(this::writePart);
    private final ChannelFutureListener written = this::written;
    private boolean keepAlive;
    /** Whether the response is written past the encoder. Its length is known, so it has no trailers. */
    private boolean plain;
    private long unconsumed;

    Http1EdgeStream(Http1EdgeConnection connection, Http1ResponseEncoder encoder, HttpMethod method,
            HttpVersion version, boolean keepAlive) {
        this.connection = connection;
        this.encoder = encoder;
        this.method = method;
        this.response = new ResponseProgress(method.equals(HttpMethod.HEAD));
        this.version = version;
        this.keepAlive = keepAlive;
    }

    @Override
    public EventLoop loop() {
        return context().channel().eventLoop();
    }

    @Override
    public Deadline deadline() {
        return connection.deadline();
    }

    @Override
    public EdgeContext shared() {
        return connection.shared();
    }

    @Override
    public Channel channel() {
        return context().channel();
    }

    @Override
    public void requestPassedOn(int bytes) {
        connection.regulate();
    }

    @Override
    public void requestDropped(int bytes) {
        connection.dropped(bytes);
    }

    /** On a connection that closes, the rest is dropped undecoded after the exchange. */
    @Override
    public boolean dropRequest() {
        if (keepAlive) {
            connection.dropRest();
        }
        return !keepAlive;
    }

    @Override
    public void reset() {
        writer.close();
        connection.reset();
    }

    @Override
    public boolean breakOff(Problem why) {
        reset();
        return false;
    }

    @Override
    public void finished() {
        connection.finished(!keepAlive);
    }

    @Override
    public void close() {
        writer.close();
        connection.close();
    }

    @Override
    public void lastOfConnection() {
        keepAlive = false;
    }

    @Override
    public ResponseProgress response() {
        return response;
    }

    @Override
    public void informational(Http2Headers head) {
        if (version.equals(HttpVersion.HTTP_1_0)) {
            return; // RFC 9110 §15.2: HTTP/1.0 has no informational responses
        }
        HttpResponseStatus code = HttpResponseStatus.parseLine(head.status());
        write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, Unpooled.EMPTY_BUFFER,
                Http1ResponseHead.headers(head), Http1ResponseHead.none()));
        connection.flushLater();
    }

    @Override
    public void head(Http2Headers head, boolean ended, boolean upgrade) {
        connection.turnOver();
        connection.served();
        HttpResponseStatus code = HttpResponseStatus.parseLine(head.status());
        if (upgrade && code.code() == 101) {
            upgraded(head, code);
            return;
        }
        ForwardingRules.response(head, false);
        response.begin(head, code.code());
        if (keepAlive && !upgrade && version.equals(HttpVersion.HTTP_1_1) && !response.answersHead()
                && Http1ResponseHead.isPlain(head, code, ended)) {
            plain = true;
            writeHead(head, code);
            connection.flushLater();
            return;
        }
        HttpHeaders headers = Http1ResponseHead.headers(head);
        keepAlive = Http1ResponseHead.frame(headers, code.code(), method, version, ended,
                keepAlive && !upgrade);
        encoder.answersHead(response.answersHead());
        write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, code, headers));
        if (ended) {
            write(LastHttpContent.EMPTY_LAST_CONTENT);
        }
        connection.flushLater();
    }

    private void upgraded(Http2Headers head, HttpResponseStatus code) {
        response.upgrade(code.code());
        keepAlive = false;
        ForwardingRules.response(head, true);
        HttpHeaders headers = Http1ResponseHead.headers(head);
        headers.set("Connection", "Upgrade");
        headers.set("Upgrade", "websocket");
        write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, code, Unpooled.EMPTY_BUFFER, headers,
                Http1ResponseHead.none()));
        connection.switchToRaw();
    }

    @Override
    public void data(ByteBuf body) {
        unconsumed += body.readableBytes();
        writer.data(body);
    }

    /** Writes without a promise. A failed write, as without direct memory, ends the connection. */
    private void write(Object part) {
        context().write(part, context().voidPromise());
    }

    /** Writes a head past the encoder, whose generality costs 5 % of the CPU time of a small request. */
    private void writeHead(Http2Headers head, HttpResponseStatus code) {
        ChannelHandlerContext past = connection.encoderContext();
        try {
            past.write(Http1ResponseHead.encode(past.alloc(), head, code), past.voidPromise());
        } catch (OutOfMemoryError e) { // direct memory; an exhausted heap ends the process
            context().pipeline().fireExceptionCaught(e);
        }
    }

    private void writePart(ByteBuf part) {
        ChannelFuture write = plain
                ? connection.encoderContext().write(part)
                : context().write(response.isUpgraded() ? part : new DefaultHttpContent(part));
        write.addListener(written);
        connection.flushLater();
    }

    private void written(ChannelFuture part) {
        if (!part.isSuccess()) {
            writer.close();
            context().close(); // later bytes would be misplaced in the stream
        }
        writer.taken();
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        writer.flush();
        if (!plain && !response.isUpgraded()) {
            write(trailers == null
                    ? LastHttpContent.EMPTY_LAST_CONTENT
                    : new DefaultLastHttpContent(Unpooled.EMPTY_BUFFER, Http1ResponseHead.headers(trailers)));
        }
        connection.flushLater();
    }

    @Override
    public void goAway() {
        writer.flush();
        context().writeAndFlush(WebSocketBoundary.goingAway());
    }

    @Override
    public void problem(Problem problem, CharSequence requestId, boolean close) {
        int status = problem.cause().status();
        keepAlive &= !close;
        ProblemDocument document = ProblemDocument.of(problem, requestId.toString(), response.accept());
        response.beginProblem(status, document.body().length);
        HttpHeaders headers = Http1ResponseHead.none();
        document.fields().forEach(field -> headers.set(canonical(field.name()), field.value()));
        response.fields().forEach(field -> headers.add(canonical(field.name()), field.value()));
        if (status == 405) {
            headers.set("Allow", WireProblem.allowed(problem));
        }
        if (!keepAlive) {
            headers.set("Connection", "close");
        }
        encoder.answersHead(response.answersHead());
        write(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
                Unpooled.wrappedBuffer(document.body()), headers, Http1ResponseHead.none()));
        connection.flushLater();
    }

    private static AsciiString canonical(CharSequence name) {
        return CanonicalName.of(AsciiString.of(name).toLowerCase());
    }

    @Override
    public int passedOn() {
        long waiting = Math.min(unconsumed, connection.pendingBytes() + writer.waitingBytes());
        int bytes = (int) (unconsumed - waiting);
        unconsumed = waiting;
        return bytes;
    }

    @Override
    public int rest() {
        return (int) unconsumed;
    }

    @Override
    public void whenFlushed(Runnable then) {
        connection.whenFlushed(then);
    }

    @Override
    public void whenWritten(Runnable then) {
        writer.flush();
        context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> then.run());
    }

    private ChannelHandlerContext context() {
        return connection.context();
    }
}
