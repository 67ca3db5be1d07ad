package dev.culvert.relay.inbound.http1;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.DiscardedInput;
import dev.culvert.http.net.LingeringClose;
import dev.culvert.http.net.PassEnd;
import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeExchange;
import dev.culvert.relay.exchange.EdgeRequestHead;
import dev.culvert.relay.exchange.RequestFacts;
import dev.culvert.relay.exchange.RequestTrailers;
import dev.culvert.relay.exchange.TunnelWay;
import dev.culvert.relay.listen.ConnectionPlace;
import dev.culvert.relay.listen.Deadline;
import dev.culvert.relay.listen.ReadSize;
import dev.culvert.relay.listen.RelayListener;
import dev.culvert.relay.tls.CloseNotifyHold;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.AsciiString;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP/1.1 connection of a caller. Passes the requests to their runtimes one after another. Pipelined
 * requests wait unread.
 *
 * <pre>
 *  IDLE ──head begins──► HEAD ──head complete──► EXCHANGE ──both halves done──► IDLE
 *    └─ idle time-out       └─ 408                  ├─ response done first: the rest of the request is dropped, then IDLE or closed
 *                                                   └─ 101: raw bytes until either side closes
 * </pre>
 *
 * <p>One class, because whether the socket is read, and what its next bytes mean, depends on the whole state
 * above: the exchange, what is pipelined, the drain. What belongs to one exchange is in
 * {@link Http1EdgeStream}.
 */
public final class Http1EdgeConnection extends ChannelInboundHandlerAdapter {
    private static final Logger log = LoggerFactory.getLogger(Http1EdgeConnection.class);
    /** The unforwarded bytes of a request body at which reading from the socket stops. */
    private static final int HIGH_WATER = 64 << 10;
    private static final int LOW_WATER = 32 << 10;

    private final EdgeContext shared;
    private final Http1RequestDecoder decoder;
    private final Http1ResponseEncoder encoder;
    private final ArrayDeque<Object> pipelined = new ArrayDeque<>();
    private final Runnable flush = this::flush;
    /** Null: there is no TLS. */
    private @Nullable CloseNotifyHold hold;

    private @Nullable ReadSize reads;
    private @Nullable ConnectionPlace place;
    private @Nullable ChannelHandlerContext context;
    private @Nullable ChannelHandlerContext encoderContext;
    private ForwardingRules.@Nullable Peer peer;
    private @Nullable Deadline deadline;
    private @Nullable EdgeExchange current;
    /** The rest of a request that has been answered. */
    private @Nullable DiscardedInput rest;
    /**
     * Of the first pipelined request, or of the current one that was pipelined, until its response begins.
     */
    private PipelineTurns.@Nullable Turn turn;
    private final ArrayDeque<Runnable> afterFlush = new ArrayDeque<>(2);
    private boolean flushScheduled;
    private boolean raw;
    private boolean awaitingHead;
    /** All later bytes are dropped: after a refused request they could be a smuggled one. */
    private boolean closing;
    /** The server stops, so the next response is the last. */
    private boolean draining;

    public Http1EdgeConnection(EdgeContext shared, Http1RequestDecoder decoder,
            Http1ResponseEncoder encoder) {
        this.shared = shared;
        this.decoder = decoder;
        this.encoder = encoder;
        decoder.stopWhile(() -> !closing && !pipelined.isEmpty());
        TunnelWay door = shared.door();
        if (door != null) {
            decoder.decline(door::mayBeAt);
        }
    }

    ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /** What is written here passes the encoder by. */
    ChannelHandlerContext encoderContext() {
        return Objects.requireNonNull(encoderContext);
    }

    Deadline deadline() {
        return Objects.requireNonNull(deadline);
    }

    EdgeContext shared() {
        return shared;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            begin(ctx);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (context == null) {
            begin(ctx);
        }
        ctx.fireChannelActive();
    }

    private void begin(ChannelHandlerContext ctx) {
        context = ctx;
        encoderContext = ctx.pipeline().context(encoder);
        reads = ReadSize.of(ctx.channel());
        place = ConnectionPlace.of(ctx.channel());
        deadline = new Deadline(ctx.channel().eventLoop());
        peer = shared.peer(ctx.channel(), "1.1");
        hold = CloseNotifyHold.of(ctx.pipeline(), true, this::isAnswering);
        // A new connection, TLS handshake included, has the time-out of a head.
        awaitHead();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (reads != null) {
            reads.part(isHead(message) ? ReadSize.HEAD : 1);
        }
        EdgeExchange exchange = current;
        if (closing) {
            ReferenceCountUtil.release(message);
        } else if (message instanceof ByteBuf bytes) {
            rawBytes(exchange, bytes);
        } else if (exchange == null ? mayBegin() : !exchange.requestEnded()) {
            take(message);
        } else if (!LastHttpContent.EMPTY_LAST_CONTENT.equals(message) || !pipelined.isEmpty()) {
            // not the end of this request, which its head declared, but the next request
            pipelined.add(message);
            ctx.channel().config().setAutoRead(false);
        }
    }

    /**
     * Whether the next request may begin. It waits while the caller does not read, because responses would
     * pile up here.
     */
    private boolean mayBegin() {
        return pipelined.isEmpty() && context().channel().isWritable();
    }

    private void rawBytes(@Nullable EdgeExchange exchange, ByteBuf bytes) {
        if (exchange == null || !raw) {
            bytes.release();
            return;
        }
        exchange.requestData(bytes);
        regulate();
    }

    private void take(Object message) {
        if (message instanceof WholeRequest request) {
            begin(request);
        } else if (message instanceof HttpRequest request) {
            begin(request);
        } else if (message instanceof HttpContent content && current != null) {
            body(current, content);
        } else {
            ReferenceCountUtil.release(message);
        }
    }

    private void begin(HttpRequest request) {
        awaitingHead = false;
        deadline().clear();
        TunnelWay door = shared.door();
        if (door != null && !draining && door.isFor(request)) {
            closing = true; // this handler receives nothing more
            deadline().close();
            CloseNotifyHold.remove(context().pipeline());
            door.enter(context(), encoder, request, pipelined);
            return;
        }
        boolean keepAlive = HttpUtil.isKeepAlive(request);
        EdgeExchange exchange = open(request.method(), request.protocolVersion(), keepAlive,
                RequestFacts.of(request, Objects.requireNonNull(peer), shared.rules()));
        try {
            EdgeRequestHead head = EdgeRequestHead.of(request, shared.scheme(), shared.limits());
            boolean hasBody = ContentLength.announcesContent(request);
            if (hasBody && HttpUtil.is100ContinueExpected(request)) {
                exchange.bodyAwaits100();
            }
            exchange.forward(head, Objects.requireNonNull(peer), hasBody);
        } catch (EdgeException e) {
            boolean ambiguous = isAmbiguous(e, request.method()) || request.decoderResult().isFailure();
            exchange.requestId(idOf(request));
            exchange.refuse(e.problem(), ambiguous, !ContentLength.announcesContent(request));
        }
        ReferenceCountUtil.release(request);
    }

    private void begin(WholeRequest request) {
        awaitingHead = false;
        deadline().clear();
        Http2Headers fields = request.fields().scheme(shared.scheme());
        EdgeExchange exchange = open(request.method(), HttpVersion.HTTP_1_1, true,
                RequestFacts.of("HTTP/1.1", fields, Objects.requireNonNull(peer), shared.rules()));
        try {
            exchange.forward(new EdgeRequestHead(fields, request.host(), false), Objects.requireNonNull(peer),
                    false);
        } catch (EdgeException e) {
            exchange.requestId(ForwardingRules.requestId(fields));
            exchange.refuse(e.problem(), isAmbiguous(e, request.method()), true);
        }
    }

    /** Whether the bytes behind a refused request may be none: of a CONNECT they are meant for a tunnel. */
    private static boolean isAmbiguous(EdgeException refusal, HttpMethod method) {
        return refusal.problem().cause() == Cause.BAD_REQUEST || method.equals(HttpMethod.CONNECT);
    }

    private EdgeExchange open(HttpMethod method, HttpVersion version, boolean keepAlive, RequestFacts facts) {
        EdgeExchange exchange = new EdgeExchange(
                new Http1EdgeStream(this, encoder, method, version, keepAlive), facts);
        current = exchange;
        Objects.requireNonNull(place).busy();
        if (draining) {
            exchange.lastOfConnection();
        }
        return exchange;
    }

    private static CharSequence idOf(HttpRequest request) {
        var fields = new DefaultHttp2Headers(false, 4);
        String offered = request.headers().get("x-request-id");
        if (offered != null) {
            fields.set("x-request-id", offered);
        }
        return AsciiString.of(ForwardingRules.requestId(fields));
    }

    private void body(EdgeExchange exchange, HttpContent content) {
        if (content.decoderResult().isFailure()) {
            content.release();
            exchange.malformedBody(RequestTrailers.malformed(content));
            return;
        }
        boolean last = content instanceof LastHttpContent;
        if (content.content().isReadable()) {
            exchange.requestData(content.content());
        } else {
            content.release();
        }
        if (last) {
            RequestTrailers.end(exchange, ((LastHttpContent) content).trailingHeaders(), shared.limits());
        }
        regulate();
    }

    /** Starts or stops reading from the socket, by the number of body bytes that wait to be forwarded. */
    void regulate() {
        EdgeExchange exchange = current;
        boolean reading = context().channel().config().isAutoRead();
        int waiting = exchange == null ? 0 : exchange.unforwarded();
        boolean stopped = exchange != null && exchange.isStopped() || rest != null && rest.isPaused();
        if (reading && (waiting >= HIGH_WATER || stopped)) {
            context().channel().config().setAutoRead(false);
        } else if (!reading && waiting <= LOW_WATER && !stopped && pipelined.isEmpty()) {
            context().channel().config().setAutoRead(true);
        }
    }

    /** The response is complete: reads and drops the rest of the request, so that the caller can read it. */
    void dropRest() {
        deadline().clear();
        rest = new DiscardedInput(context().channel(), this::regulate, this::close);
        regulate();
    }

    /** Bytes of the rest were dropped. */
    void dropped(int bytes) {
        if (rest != null) {
            rest.dropped(bytes);
        }
    }

    private void endRest() {
        if (rest != null) {
            rest.end();
            rest = null;
        }
    }

    /** The exchange is over in both directions. Its last bytes are flushed at the end of this pass. */
    void finished(boolean close) {
        current = null;
        Objects.requireNonNull(place).silent();
        endRest();
        turnOver();
        ChannelHandlerContext ctx = context();
        if (close) {
            closing = true;
            deadline().clear();
            LingeringClose.begin(ctx.channel(), ctx.writeAndFlush(Unpooled.EMPTY_BUFFER));
            return;
        }
        deadline().set(shared.limits().idleTimeout(), ctx::close);
        if (!pipelined.isEmpty()) {
            nextInTurn();
            return;
        }
        rest();
    }

    /** Waits for the next request, unless one is in progress. */
    private void rest() {
        awaitRestOfHead();
        regulate();
        if (hold != null && current == null && pipelined.isEmpty()) {
            hold.answered();
        }
    }

    /** Whether all of the caller's request was received, and is not answered yet. */
    private boolean isAnswering() {
        boolean asked = current != null ? current.requestEnded() : !pipelined.isEmpty();
        return asked && !raw && !closing;
    }

    /** Begins the next request when its source has a turn. */
    private void nextInTurn() {
        if (turn == null) {
            turn = PipelineTurns.of(context().channel().eventLoop())
                    .ask(Objects.requireNonNull(peer).account(), this::inTurn);
        }
    }

    private void inTurn() {
        try {
            if (context().channel().isActive()) {
                next();
            }
        } catch (OutOfMemoryError | RuntimeException e) { // direct memory; an exhausted heap ends the process
            exceptionCaught(context(), e);
        }
        if (current == null) {
            turnOver();
        }
    }

    /** A runtime has answered. */
    void served() {
        Objects.requireNonNull(place).served();
    }

    /** The next pipelined request of the source may begin: a response began, or nothing is in progress. */
    void turnOver() {
        if (turn != null) {
            turn.end();
            turn = null;
        }
    }

    private void next() {
        while (!closing && !pipelined.isEmpty() && mayTake(pipelined.peek())) {
            take(Objects.requireNonNull(pipelined.poll()));
        }
        if (current != null && LastHttpContent.EMPTY_LAST_CONTENT.equals(pipelined.peek())) {
            pipelined.poll(); // its head declared no body
        }
        decodeOn();
        rest();
    }

    /** Decodes the next request from bytes that were already received, by an empty read. */
    private void decodeOn() {
        ChannelHandlerContext ctx = context();
        // the remaining bytes of a tunnel belong to its handlers
        boolean over = raw || (closing && !ctx.isRemoved());
        ChannelHandlerContext decoding = ctx.pipeline().context(decoder);
        if (over || decoding == null || !pipelined.isEmpty()) {
            return;
        }
        try {
            decoder.channelRead(decoding, Unpooled.EMPTY_BUFFER);
        } catch (Exception e) {
            exceptionCaught(ctx, e);
        }
    }

    private boolean mayTake(Object message) {
        return current == null
                ? !isHead(message) || context().channel().isWritable()
                : !current.requestEnded();
    }

    private static boolean isHead(Object message) {
        return message instanceof WholeRequest || message instanceof HttpRequest;
    }

    /**
     * Resets the socket through the first handler. The caller sees a reset, and no TLS close_notify that
     * would mark the data as complete.
     */
    void reset() {
        closing = true;
        Channel channel = context().channel();
        if (!channel.isOpen()) {
            return; // a caller that left while its WebSocket was being ended
        }
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.pipeline().firstContext().close();
    }

    /** Closes the connection. Nothing that arrived before is read as another request. */
    void close() {
        closing = true;
        context().close();
    }

    /** The 101 response is written. From here on both directions are raw bytes. */
    void switchToRaw() {
        raw = true;
        deadline().clear();
        ChannelHandlerContext ctx = context();
        flush();
        pipelined.forEach(ReferenceCountUtil::release);
        pipelined.clear();
        ctx.pipeline().remove(encoder);
        ctx.pipeline().remove(decoder); // its remaining bytes arrive as raw bytes
        ctx.channel().config().setAutoRead(true);
    }

    /** Flushes once at the end of this event-loop pass. */
    void flushLater() {
        if (!flushScheduled) {
            flushScheduled = true;
            PassEnd.run(context().channel().eventLoop(), flush);
        }
    }

    private void flush() {
        flushScheduled = false;
        context().flush();
        if (current != null) {
            current.passedOn();
        }
        for (Runnable then = afterFlush.poll(); then != null; then = afterFlush.poll()) {
            then.run();
        }
    }

    /** Runs {@code then} after the next flush. */
    void whenFlushed(Runnable then) {
        afterFlush.add(then);
        flushLater();
    }

    /** The bytes written to this connection that its socket has not accepted. */
    long pendingBytes() {
        var outbound = context().channel().unsafe().outboundBuffer();
        return outbound == null ? 0 : outbound.totalPendingWriteBytes();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        awaitRestOfHead();
        ctx.fireChannelReadComplete();
    }

    private void awaitRestOfHead() {
        if (current == null && !closing && !awaitingHead && pipelined.isEmpty() && decoder.isPartialHead()) {
            awaitHead();
        }
    }

    private void awaitHead() {
        awaitingHead = true;
        deadline().set(shared.limits().headTimeout(), this::headTooSlow);
    }

    private void headTooSlow() {
        if (!decoder.isPartialHead()) {
            context().close();
            return;
        }
        EdgeExchange exchange = new EdgeExchange(
                new Http1EdgeStream(this, encoder, HttpMethod.GET, HttpVersion.HTTP_1_1, false),
                RequestFacts.unknown(Objects.requireNonNull(peer).address()));
        current = exchange;
        exchange.requestId(ForwardingRules.requestId(new DefaultHttp2Headers(false, 4)));
        exchange.refuse(Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the head did not arrive in time"), true,
                true);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (current != null) {
            current.passedOn();
        } else if (!pipelined.isEmpty() && ctx.channel().isWritable()) {
            nextInTurn();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        deadline().close();
        endRest();
        pipelined.forEach(ReferenceCountUtil::release);
        pipelined.clear();
        EdgeExchange exchange = current;
        current = null;
        turnOver();
        if (exchange != null) {
            exchange.callerGone();
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event.equals(RelayListener.DRAIN)) {
            draining = true;
            if (current == null) {
                // A request may be on its way: its response asks the caller to close.
                ctx.channel()
                        .eventLoop()
                        .schedule(() -> closeIfIdle(ctx), EdgeContext.DRAIN_IDLE.toMillis(),
                                TimeUnit.MILLISECONDS);
            } else {
                current.lastOfConnection();
            }
        }
        if (event.equals(RelayListener.CUT)) {
            if (current == null) {
                ctx.close();
            } else {
                current.cut();
            }
        }
        if (event instanceof SslCloseCompletionEvent && !closing) {
            ctx.close(); // its engine writes nothing more, either
        }
        ctx.fireUserEventTriggered(event);
    }

    private void closeIfIdle(ChannelHandlerContext ctx) {
        if (current == null && !closing) {
            ctx.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!MemoryRefusals.CALLER.counts(cause) && !(cause instanceof IOException)
                && !(cause instanceof DecoderException)) {
            log.atWarn().setCause(cause).log("edge connection failed");
        }
        ctx.close();
    }
}
