package dev.culvert.relay.inbound.http2;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.LingeringClose;
import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.protocol.body.BodyPart;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeExchange;
import dev.culvert.relay.exchange.EdgeProblems;
import dev.culvert.relay.exchange.RequestFacts;
import dev.culvert.relay.exchange.RequestTrailers;
import dev.culvert.relay.listen.ConnectionPlace;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.listen.ReadSize;
import dev.culvert.relay.listen.RelayListener;
import dev.culvert.relay.tls.CloseNotifyHold;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.HeaderListSizeException;
import io.netty.handler.codec.http2.Http2Exception.StreamException;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP/2 connection of a caller (RFC 9113), WebSockets included (RFC 8441). Each stream is passed to its
 * runtime separately. The connection's window holds the windows of the maximum number of streams, so that
 * stalled streams delay no others.
 *
 * <p>One class, because Netty's handler calls back for the connection and all its streams, and each callback
 * reads or changes the same few facts: the budgets of the peer, the drain, and what waits for the socket.
 * What belongs to one stream is in {@link Http2EdgeStream}.
 */
public final class Http2EdgeConnection extends Http2ConnectionHandler {
    /**
     * The maximum bytes of responses that wait for the caller's socket when another request arrives. Bodies
     * never have as many there.
     */
    private static final int MAX_WAITING = 1 << 20;

    private static final Logger log = LoggerFactory.getLogger(Http2EdgeConnection.class);

    private final EdgeContext shared;
    private final Http2Connection.PropertyKey sides;
    /** The property of streams whose head was parsed, or whose response was sent. */
    private final Http2Connection.PropertyKey begun;
    private final Http2ClosedStreams closedStreams = new Http2ClosedStreams();
    private final Http2FrameBudget control = Http2FrameBudget.ofControlFrames();
    private final Http2FrameBudget unasked = Http2FrameBudget.ofSilentFrames();
    private final Http2FrameBudget faults = Http2FrameBudget.ofFaults();
    private @Nullable ChannelHandlerContext context;
    private @Nullable ReadSize reads;
    private @Nullable ConnectionPlace place;
    private ForwardingRules.@Nullable Peer peer;
    private @Nullable Deadline idle;
    /** Null: there is no TLS. */
    private @Nullable CloseNotifyHold hold;
    private final ArrayDeque<Runnable> afterFlush = new ArrayDeque<>(2);
    /** The caller has sent its SETTINGS. */
    private boolean introduced;
    private boolean flushScheduled;
    /** The bytes by which frames of waiting bodies fall short of {@link Http2EdgeBuilder#FAIR_DATA} each. */
    private int shortfall;
    private boolean draining;
    /** The connection violated the protocol: the rest of its bytes is dropped. */
    private boolean failed;

    Http2EdgeConnection(EdgeContext shared, Http2ConnectionDecoder decoder,
            Http2ConnectionEncoder encoder, Http2Settings settings) {
        super(decoder, encoder, settings);
        this.shared = shared;
        Events events = new Events();
        this.sides = connection().newKey();
        this.begun = connection().newKey();
        decoder.frameListener(events);
        connection().addListener(events);
    }

    public static Http2EdgeConnection of(EdgeContext shared) {
        return new Http2EdgeBuilder(shared).build();
    }

    EdgeContext shared() {
        return shared;
    }

    Channel channel() {
        return context().channel();
    }

    EventLoop loop() {
        return channel().eventLoop();
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    private Deadline idle() {
        return Objects.requireNonNull(idle);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        context = ctx;
        reads = ReadSize.of(ctx.channel());
        place = ConnectionPlace.of(ctx.channel());
        idle = new Deadline(ctx.channel().eventLoop());
        peer = shared.peer(ctx.channel(), "2.0");
        hold = CloseNotifyHold.of(ctx.pipeline(), false, this::isAnswering);
        idle().set(shared.limits().headTimeout(), ctx.channel()::close);
        super.handlerAdded(ctx);
        widen();
    }

    /**
     * Enlarges the connection's window to hold the windows of all streams, so that a stalled stream takes
     * nothing from others.
     */
    private void widen() throws Http2Exception {
        Http2Stream whole = connection().connectionStream();
        int more = Http2EdgeBuilder.MAX_STREAMS * Http2EdgeBuilder.STREAM_WINDOW
                - decoder().flowController().initialWindowSize(whole);
        decoder().flowController().incrementWindowSize(whole, more);
        flushLater();
    }

    // ---- for streams ----

    ChannelFuture writeHead(Http2Stream stream, Http2Headers head, boolean ended) {
        flushLater();
        return encoder().writeHeaders(context(), stream.id(), head, 0, ended, context().newPromise());
    }

    /**
     * Writes a part of a body and takes ownership of it. The future completes when the socket has accepted
     * it.
     */
    ChannelFuture writeBody(Http2Stream stream, ByteBuf body, boolean ended) {
        flushLater();
        unasked.written(body.readableBytes());
        return encoder().writeData(context(), stream.id(), body, 0, ended, context().newPromise());
    }

    void requestPassedOn(Http2Stream stream, int bytes) {
        try {
            if (decoder().flowController().consumeBytes(stream, bytes)) {
                flushLater();
            }
        } catch (Http2Exception e) {
            onError(context(), false, e);
        }
    }

    void reset(Http2Stream stream, Http2Error error) {
        var _ = resetStream(context(), stream.id(), error.code(), context().newPromise());
        flushLater();
    }

    /** A runtime has answered. */
    void served() {
        Objects.requireNonNull(place).served();
    }

    /** The exchange of a stream is over. */
    void finished(Http2Stream stream) {
        stream.removeProperty(sides);
    }

    /** Runs {@code then} after the next flush. */
    void whenFlushed(Runnable then) {
        afterFlush.add(then);
        flushLater();
    }

    /** Flushes once at the end of this event-loop pass. */
    private void flushLater() {
        if (!flushScheduled) {
            flushScheduled = true;
            loop().execute(() -> {
                flushScheduled = false;
                flush(context());
                for (Runnable then = afterFlush.poll(); then != null; then = afterFlush.poll()) {
                    then.run();
                }
            });
        }
    }

    // ---- received frames ----

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws Exception {
        if (failed) {
            in.skipBytes(in.readableBytes());
        } else {
            super.decode(ctx, in, out);
        }
    }

    /**
     * Cuts a caller that sends requests and reads no responses: responses without a body wait for no window.
     */
    private void requireReader() throws Http2Exception {
        ChannelOutboundBuffer waiting = channel().unsafe().outboundBuffer();
        if (waiting != null && waiting.totalPendingWriteBytes() > MAX_WAITING) {
            throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, "answers are not read");
        }
    }

    private void count(int cost) {
        if (reads != null) {
            reads.part(cost);
        }
    }

    private void begin(Http2Stream stream, Http2Headers head, boolean ended) throws Http2Exception {
        EdgeExchange exchange = exchange(stream, "HEAD".contentEquals(String.valueOf(head.method())),
                RequestFacts.of("HTTP/2", head, Objects.requireNonNull(peer), shared.rules()));
        exchange.requestId(ForwardingRules.requestId(head));
        try {
            exchange.forward(Http2RequestHead.of(head, shared.scheme(), ended, shared.limits()),
                    Objects.requireNonNull(peer), !ended);
        } catch (EdgeException e) {
            boolean malformed = e.problem().cause() == Cause.BAD_REQUEST;
            exchange.refuse(e.problem(), malformed, ended);
            if (malformed) {
                faults.count();
            }
        }
    }

    private EdgeExchange exchange(Http2Stream stream, boolean answersHead, RequestFacts facts) {
        idle().clear();
        unasked.began();
        Objects.requireNonNull(place).busy();
        var side = new Http2EdgeStream(this, stream, answersHead);
        EdgeExchange exchange = new EdgeExchange(side, facts);
        side.carries(exchange);
        stream.setProperty(sides, side);
        stream.setProperty(begun, true);
        return exchange;
    }

    private @Nullable EdgeExchange exchangeOf(@Nullable Http2Stream stream) {
        Http2EdgeStream side = stream == null ? null : stream.getProperty(sides);
        return side == null ? null : side.exchange();
    }

    /** Responds to a head that could not be decoded, whether its body follows or not. */
    private void refuse(Http2Stream stream, Problem problem) {
        EdgeExchange exchange = exchange(stream, false,
                RequestFacts.unknown(Objects.requireNonNull(peer).address()));
        exchange.requestId(ForwardingRules.requestId(new DefaultHttp2Headers(false, 4)));
        exchange.refuse(problem, true, true);
    }

    private int data(Http2Stream stream, ByteBuf data, int padding, boolean ended) throws Http2Exception {
        Http2EdgeStream side = stream.getProperty(sides);
        if (side == null) {
            return 0; // returned to the connection's window when the stream closes, and never to the stream's
        }
        EdgeExchange exchange = side.exchange();
        requireSubstance(side, data.readableBytes());
        if (data.isReadable()) {
            exchange.requestData(BodyPart.keep(data));
        }
        if (ended && exchangeOf(stream) != null) {
            exchange.requestEnd(null);
        }
        return padding;
    }

    /**
     * Ends the connection for a flood of small frames that pile up (RFC 9113 §10.5), because each costs work.
     * Small frames do not count while their receiver consumes them, however many there are.
     */
    private void requireSubstance(Http2EdgeStream side, int bytes) throws Http2Exception {
        if (bytes < Http2EdgeBuilder.FAIR_DATA && side.exchange().unforwarded() > 0) {
            int more = Http2EdgeBuilder.FAIR_DATA - bytes;
            side.fallsShort(more);
            shortfall += more;
            if (shortfall > Http2EdgeBuilder.MAX_SHORTFALL) {
                throw Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM,
                        "too many nearly empty DATA frames");
            }
        }
    }

    /** Subtracts shortfall whose frames the upstream has consumed, or will never receive. */
    void madeUp(int bytes) {
        shortfall -= bytes;
    }

    private void closed(Http2Stream stream) {
        closedStreams.add(stream);
        Http2EdgeStream side = stream.removeProperty(sides);
        if (side != null) {
            side.closed();
        }
        if (connection().numActiveStreams() == 0) {
            rest();
        }
    }

    /** Whether there are open streams, and nothing is awaited of any request or frame. */
    private boolean isAnswering() {
        try {
            return !failed && actualReadableBytes() == 0 && connection().numActiveStreams() > 0
                    && connection().forEachActiveStream(stream -> !stream.state().remoteSideOpen()) == null;
        } catch (Http2Exception e) {
            return false;
        }
    }

    /** The last open stream closed. */
    private void rest() {
        if (failed) {
            return;
        }
        Objects.requireNonNull(place).silent();
        if (hold != null) {
            hold.answered();
        }
        if (draining) {
            context().channel().close();
        } else {
            idle().set(shared.limits().idleTimeout(), context().channel()::close);
        }
    }

    private final class Events extends Http2EventAdapter {
        @Override
        public void onHeadersRead(ChannelHandlerContext ctx, int id, Http2Headers headers, int padding,
                boolean ended) throws Http2Exception {
            requireReader();
            count(ReadSize.HEAD);
            Http2Stream stream = connection().stream(id);
            EdgeExchange exchange = exchangeOf(stream);
            if (exchange != null) {
                RequestTrailers.end(exchange, headers, shared.limits());
            } else if (!stream.isHeadersSent()) {
                begin(stream, headers, ended);
            }
        }

        @Override
        public void onHeadersRead(ChannelHandlerContext ctx, int id, Http2Headers headers, int dependency,
                short weight, boolean exclusive, int padding, boolean ended) throws Http2Exception {
            onHeadersRead(ctx, id, headers, padding, ended);
        }

        @Override
        public int onDataRead(ChannelHandlerContext ctx, int id, ByteBuf data, int padding, boolean ended)
                throws Http2Exception {
            count(1);
            return Http2EdgeConnection.this.data(connection().stream(id), data, padding, ended);
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) throws Http2Exception {
            control.count();
            if (!introduced && connection().numActiveStreams() == 0) {
                rest(); // the first: later ones would keep an idle connection for ever
            }
            introduced = true;
        }

        @Override
        public void onPingRead(ChannelHandlerContext ctx, long data) throws Http2Exception {
            control.count();
        }

        @Override
        public void onPriorityRead(ChannelHandlerContext ctx, int id, int dependency, short weight,
                boolean exclusive) throws Http2Exception {
            control.count();
        }

        @Override
        public void onUnknownFrame(ChannelHandlerContext ctx, byte type, int id, Http2Flags flags,
                ByteBuf payload) throws Http2Exception {
            count(1);
            unasked.count(); // RFC 9113 §5.5: ignored otherwise
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext ctx, int id, int increment)
                throws Http2Exception {
            count(1);
            unasked.count();
        }

        @Override
        public void onStreamClosed(Http2Stream stream) {
            closed(stream);
        }
    }

    // ---- errors ----

    /** Responds to a malformed request before its stream is reset (RFC 9113 §8.1.1). */
    @Override
    protected void onStreamError(ChannelHandlerContext ctx, boolean outbound, Throwable cause,
            StreamException error) {
        Http2Stream stream = connection().stream(error.streamId());
        EdgeExchange exchange = exchangeOf(stream);
        if (!outbound && isFault(stream, error)) {
            try {
                faults.count();
            } catch (Http2Exception flood) {
                onConnectionError(ctx, false, flood, flood);
                return;
            }
        }
        if (outbound || error.error() != Http2Error.PROTOCOL_ERROR) {
            closedOrReset(ctx, outbound, cause, error, stream);
        } else if (stream != null && stream.getProperty(begun) != null && !stream.state().remoteSideOpen()) {
            // RFC 9113 §5.1: the stream is half-closed because its request has ended
            reset(stream, Http2Error.STREAM_CLOSED);
        } else if (exchange != null) {
            exchange.malformedBody(EdgeProblems.MALFORMED_BODY);
        } else if (stream == null && isHead(error)) {
            refuseUndecoded(ctx, cause, error);
        } else if (stream != null && !stream.isHeadersSent() && !stream.isResetSent()) {
            refuse(stream, EdgeProblems.MALFORMED_HEAD);
        } else {
            closedOrReset(ctx, outbound, cause, error, stream);
        }
        flushLater();
    }

    /** Whether the caller has broken a request. Its head may also be too large, which is no fault. */
    private boolean isFault(@Nullable Http2Stream stream, StreamException error) {
        boolean hasBegun = stream != null && stream.getProperty(begun) != null;
        return hasBegun
                || (error.error() == Http2Error.PROTOCOL_ERROR
                        && !(error instanceof HeaderListSizeException));
    }

    private void closedOrReset(ChannelHandlerContext ctx, boolean outbound, Throwable cause,
            StreamException error, @Nullable Http2Stream stream) {
        boolean late = stream == null && !outbound && error.error() == Http2Error.STREAM_CLOSED;
        if (late) {
            Http2Exception fatal = closedStreams.judge(error.streamId());
            if (fatal != null) {
                onConnectionError(ctx, false, fatal, fatal);
            }
            return; // RFC 9113 §5.1: frames on a stream that was reset are ignored
        }
        if (stream == null) {
            closedStreams.refused(error.streamId());
        }
        super.onStreamError(ctx, outbound, cause, error);
    }

    private boolean isHead(StreamException error) {
        return !connection().streamMayHaveExisted(error.streamId());
    }

    private void refuseUndecoded(ChannelHandlerContext ctx, Throwable cause, StreamException error) {
        try {
            refuse(connection().remote().createStream(error.streamId(), false),
                    error instanceof HeaderListSizeException
                            ? EdgeProblems.HEAD_TOO_LARGE
                            : EdgeProblems.MALFORMED_HEAD);
        } catch (Http2Exception e) {
            super.onStreamError(ctx, false, cause, error);
        }
    }

    /** A reset by the caller, a TLS failure, or a violation of the protocol. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
        if (MemoryRefusals.CALLER.counts(cause)) {
            ctx.close();
        } else if (Http2CodecUtil.getEmbeddedHttp2Exception(cause) != null) {
            super.exceptionCaught(ctx, cause);
        } else {
            if (!(cause instanceof IOException) && !(cause instanceof DecoderException)) {
                log.atWarn().setCause(cause).log("edge connection failed");
            }
            ctx.close();
        }
    }

    /**
     * Ends all streams and says why. The connection lingers, because a caller that is still sending might
     * otherwise lose the GOAWAY.
     */
    @Override
    protected void onConnectionError(ChannelHandlerContext ctx, boolean outbound, Throwable cause,
            @Nullable Http2Exception error) {
        if (failed) {
            return;
        }
        failed = true;
        Http2Error code = error == null ? Http2Error.INTERNAL_ERROR : error.error();
        shared.meters().http2Error(code);
        idle().clear();
        try {
            sayGoAway(ctx, code, String.valueOf(cause.getMessage()));
        } catch (Http2Exception e) {
            ctx.close();
        }
        connection().close(ctx.voidPromise());
    }

    /** Writes what Netty's {@code goAway} writes, which would close the socket at once. */
    private void sayGoAway(ChannelHandlerContext ctx, Http2Error code, String why) throws Http2Exception {
        // Includes the stream of a faulty head, but must not exceed the number of an earlier GOAWAY.
        int last = draining ? connection().remote().lastStreamCreated() : Integer.MAX_VALUE;
        ByteBuf reason = ByteBufUtil.writeUtf8(ctx.alloc(), why);
        try {
            connection().goAwaySent(last, code.code(), reason);
            ChannelFuture said = encoder().frameWriter()
                    .writeGoAway(ctx, last, code.code(), reason.retain(), ctx.newPromise());
            flush(ctx);
            LingeringClose.begin(ctx.channel(), said);
        } finally {
            reason.release();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        super.channelInactive(ctx);
        idle().close();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof SslCloseCompletionEvent && !failed) {
            ctx.channel().close(); // its engine writes nothing more, either
        }
        if (event.equals(RelayListener.DRAIN)) {
            drain(ctx);
        } else if (event.equals(RelayListener.CUT)) {
            cut(ctx);
        }
        super.userEventTriggered(ctx, event);
    }

    /**
     * Drains the connection (RFC 9113 §6.8): sends a first GOAWAY without a last stream, and a second one
     * that names it shortly after.
     */
    private void drain(ChannelHandlerContext ctx) {
        draining = true;
        var _ = goAway(ctx, Integer.MAX_VALUE, Http2Error.NO_ERROR.code(), Unpooled.EMPTY_BUFFER,
                ctx.newPromise());
        flushLater();
        ctx.channel().eventLoop().schedule(() -> {
            if (connection().numActiveStreams() == 0) {
                ctx.channel().close();
            } else {
                var _ = goAway(ctx, connection().remote().lastStreamCreated(), Http2Error.NO_ERROR.code(),
                        Unpooled.EMPTY_BUFFER, ctx.newPromise());
                flushLater();
            }
        }, EdgeContext.DRAIN_IDLE.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void cut(ChannelHandlerContext ctx) {
        var running = new ArrayList<EdgeExchange>();
        try {
            connection().forEachActiveStream(stream -> {
                EdgeExchange exchange = exchangeOf(stream);
                if (exchange != null) {
                    running.add(exchange);
                }
                return true;
            });
        } catch (Http2Exception e) {
            onError(ctx, false, e);
        }
        running.forEach(EdgeExchange::cut);
        flush(ctx);
        ctx.channel().close();
    }
}
