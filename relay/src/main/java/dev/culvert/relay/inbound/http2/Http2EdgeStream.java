package dev.culvert.relay.inbound.http2;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.protocol.body.BodyWriter;
import dev.culvert.relay.GrpcContent;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeExchange;
import dev.culvert.relay.exchange.EdgeStream;
import dev.culvert.relay.exchange.ResponseProgress;
import dev.culvert.relay.exchange.WebSocketBoundary;
import dev.culvert.relay.listen.Deadline;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One exchange on an HTTP/2 connection. It has a stream of its own, whose windows bound the bytes in flight
 * of either body.
 */
final class Http2EdgeStream implements EdgeStream {
    private final Http2EdgeConnection connection;
    private final Http2Stream stream;
    private final Deadline deadline;
    private final ResponseProgress response;

    private final BodyWriter writer = new BodyWriter(this::writePart);

    private boolean malformed;
    private boolean refused;
    /** The response belongs to a gRPC call. */
    private boolean grpc;
    private @Nullable EdgeExchange exchange;
    /** The response bytes that were not reported yet, and how many of them the socket has accepted. */
    private int unreported;
    private int taken;
    /** The shortfall of nearly empty frames of a waiting body, in bytes. */
    private int shortfall;
    private @Nullable ChannelFuture last;

    Http2EdgeStream(Http2EdgeConnection connection, Http2Stream stream, boolean answersHead) {
        this.connection = connection;
        this.stream = stream;
        this.deadline = new Deadline(connection.loop());
        this.response = new ResponseProgress(answersHead);
    }

    void carries(EdgeExchange carried) {
        exchange = carried;
    }

    EdgeExchange exchange() {
        return Objects.requireNonNull(exchange);
    }

    @Override
    public EventLoop loop() {
        return connection.loop();
    }

    @Override
    public Channel channel() {
        return connection.channel();
    }

    @Override
    public Deadline deadline() {
        return deadline;
    }

    @Override
    public EdgeContext shared() {
        return connection.shared();
    }

    // ---- the response ----

    @Override
    public ResponseProgress response() {
        return response;
    }

    @Override
    public void informational(Http2Headers head) {
        ForwardingRules.response(head, false);
        connection.writeHead(stream, head, false);
    }

    @Override
    public void head(Http2Headers head, boolean ended, boolean upgrade) {
        connection.served();
        ForwardingRules.response(head, false);
        if (upgrade && "101".contentEquals(head.status())) {
            // RFC 8441 §5: success is 200, and the fields of the HTTP/1.1 handshake are not used
            response.upgrade(200);
            head.status("200").remove("sec-websocket-accept");
        } else {
            response.begin(head, Integer.parseInt(head.status().toString()));
            grpc = GrpcContent.isGrpc(head.get("content-type"));
        }
        last = connection.writeHead(stream, head, ended);
    }

    @Override
    public void data(ByteBuf body) {
        unreported += body.readableBytes();
        writer.data(body);
    }

    private void writePart(ByteBuf part) {
        int bytes = part.readableBytes();
        last = connection.writeBody(stream, part, false).addListener(written -> {
            taken += bytes;
            exchange().passedOn();
            writer.taken();
        });
    }

    @Override
    public void end(@Nullable Http2Headers trailers) {
        writer.flush();
        if (trailers == null) {
            last = connection.writeBody(stream, Unpooled.EMPTY_BUFFER, true);
        } else {
            last = connection.writeHead(stream, trailers, true);
        }
    }

    @Override
    public void problem(Problem problem, CharSequence requestId, boolean close) {
        malformed = problem.cause() == Cause.BAD_REQUEST;
        refused = true;
        int status = problem.cause().status();
        ProblemDocument document = ProblemDocument.of(problem, requestId.toString(), response.accept());
        response.beginProblem(status, document.body().length);
        Http2Headers head = head(document, problem);
        response.fields().forEach(field -> head.add(field.name(), field.value()));
        if (response.answersHead()) {
            last = connection.writeHead(stream, head, true);
        } else {
            connection.writeHead(stream, head, false);
            last = connection.writeBody(stream, Unpooled.wrappedBuffer(document.body()), true);
        }
    }

    /** Returns the head of a problem. */
    static Http2Headers head(ProblemDocument document, Problem problem) {
        int status = problem.cause().status();
        Http2Headers head = new DefaultHttp2Headers(false, 8).status(Integer.toString(status));
        document.fields().forEach(field -> head.set(field.name(), field.value()));
        if (status == 405) {
            head.set("allow", WireProblem.allowed(problem));
        }
        return head;
    }

    @Override
    public void goAway() {
        writer.flush();
        last = connection.writeBody(stream, WebSocketBoundary.goingAway(), true);
    }

    @Override
    public int passedOn() {
        int bytes = taken;
        taken = 0;
        unreported -= bytes;
        return bytes;
    }

    @Override
    public int rest() {
        return unreported;
    }

    @Override
    public void whenFlushed(Runnable then) {
        connection.whenFlushed(then);
    }

    @Override
    public void whenWritten(Runnable then) {
        writer.flush();
        ChannelFuture frame = last;
        if (frame == null) {
            then.run();
        } else {
            frame.addListener(written -> then.run());
        }
    }

    // ---- the request ----

    void fallsShort(int bytes) {
        shortfall += bytes;
    }

    /** Subtracts the part of the shortfall that belongs to consumed bytes. */
    private void madeUp(int bytes, int left) {
        if (shortfall > 0) {
            int part = left <= 0 ? shortfall : (int) ((long) shortfall * bytes / (bytes + left));
            connection.madeUp(part);
            shortfall -= part;
        }
    }

    @Override
    public void requestPassedOn(int bytes) {
        madeUp(bytes, exchange().unforwarded());
        connection.requestPassedOn(stream, bytes);
    }

    @Override
    public void requestDropped(int bytes) {
        connection.requestPassedOn(stream, bytes);
    }

    @Override
    public boolean dropRequest() {
        return true;
    }

    @Override
    public void lastOfConnection() {
        // Frames delimit a stream's bytes, so other streams continue.
    }

    // ---- the end ----

    @Override
    public void reset() {
        writer.close();
        connection.reset(stream, Http2Error.INTERNAL_ERROR);
    }

    @Override
    public boolean breakOff(Problem why) {
        if (why.equals(WireProblem.UPSTREAM_CANCELLED)) {
            close();
            return false;
        }
        if (!grpc) {
            reset();
            return false;
        }
        end(GrpcStatus.trailers(why));
        return true;
    }

    @Override
    public void finished() {
        writer.close();
        madeUp(0, 0); // the rest is not forwarded
        deadline.close();
        connection.finished(stream);
        ChannelFuture end = last;
        if (end == null) {
            return;
        }
        var close = new Http2StreamEnd(connection, stream);
        if (malformed) {
            close.malformed(end);
        } else if (refused) {
            close.refused(end);
        } else {
            close.answered(end);
        }
    }

    /** The stream closed before the exchange was over. */
    void closed() {
        madeUp(0, 0);
        writer.close();
        deadline.close();
        exchange().callerGone();
    }

    @Override
    public void close() {
        writer.close();
        connection.reset(stream, Http2Error.CANCEL);
    }
}
