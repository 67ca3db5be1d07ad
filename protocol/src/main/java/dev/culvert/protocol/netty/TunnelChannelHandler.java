package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs a {@link Session} on a WebSocket channel: last in the pipeline, behind Netty's WebSocket decoder and aggregator.
 * All frames of one event-loop pass leave in one batch, one WebSocket message and one flush; a further batch is filled
 * only when the socket has taken the one before (docs/protocol.md §7).
 *
 * <p>Everything but {@link #eventLoop}, {@link #streamCount} and {@link #rttNanos} is called on the channel's event loop.
 */
public final class TunnelChannelHandler extends ChannelInboundHandlerAdapter {
    /** How long a peer may take to read the last words. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final Session session;
    private final SessionListener listener;
    private final SessionMeter meter;
    private final BatchWriter writer;
    private final IntObjectMap<TunnelStream> streams = new IntObjectHashMap<>();

    private @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> timer;
    private long timerNanos = Long.MAX_VALUE;
    private boolean flushScheduled;
    private boolean finished;
    private long meteredBuffered;
    private volatile int meteredStreams;
    private volatile long rttNanos = -1;

    /**
     * @param masks whether this side masks what it sends (RFC 6455 §5.3: the client does)
     * @param meter where this session's counts are added
     */
    public TunnelChannelHandler(Session session, boolean masks, SessionListener listener,
            SessionMeter meter) {
        this.session = session;
        this.listener = listener;
        this.meter = meter;
        this.writer = new BatchWriter(masks);
    }

    Session session() {
        return session;
    }

    /** Server: whether a stream can be opened now. */
    public boolean canOpen() {
        return session.canOpen();
    }

    /** Whether one side has said that it goes away. */
    public boolean isDraining() {
        return session.isDraining();
    }

    /** Open streams as of the last pass. Callable from any thread. */
    public int streamCount() {
        return meteredStreams;
    }

    /** The last round-trip time in nanoseconds, or -1 before the first. Callable from any thread. */
    public long rttNanos() {
        return rttNanos;
    }

    /** Where everything of this session happens. */
    public EventLoop eventLoop() {
        return context().channel().eventLoop();
    }

    /** Server: lets the client in. */
    public void ready(long sessionHigh, long sessionLow, long generation, String runtime, String host) {
        session.ready(sessionHigh, sessionLow, generation, runtime, host);
        wake();
    }

    /**
     * Server: opens a stream. Ask {@link #canOpen} first.
     *
     * @return null when the peer takes no head of this size
     */
    public @Nullable TunnelStream open(StreamKind kind, Http2Headers head, boolean ended,
            StreamListener told) {
        int id = session.open(kind, head, HeadOptions.NONE, ended);
        if (id == 0) {
            return null;
        }
        TunnelStream stream = new TunnelStream(this, id);
        stream.listener = told;
        streams.put(id, stream);
        wake();
        return stream;
    }

    /** Takes or opens no new streams; the channel closes when those in flight are done. */
    public void goAway(ErrorCode code, int delayMillis, String detail) {
        session.goAway(code, delayMillis, detail);
        wake();
    }

    /** Ends the session now; its streams are reset. */
    public void close(ErrorCode code, String detail) {
        session.close(code, detail);
        wake();
    }

    void forget(int streamId) {
        streams.remove(streamId);
    }

    /** Something may wait to be sent: sends it at the end of this event-loop pass, with all else of the pass. */
    void wake() {
        if (!flushScheduled && context != null) {
            flushScheduled = true;
            eventLoop().execute(this::pass);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        wake();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        session.received();
        if (!(message instanceof WebSocketFrame frame)) {
            ReferenceCountUtil.release(message);
            return;
        }
        try {
            switch (frame) {
                case BinaryWebSocketFrame binary -> batch(binary.content());
                case PingWebSocketFrame ping ->
                    ctx.writeAndFlush(new PongWebSocketFrame(ping.content().retain()));
                case PongWebSocketFrame pong -> {
                }
                case CloseWebSocketFrame close -> session.disconnected();
                default -> session.fail(ProtocolException.session(ErrorCode.PROTOCOL, "a text message"));
            }
        } finally {
            frame.release();
        }
        tell();
        wake();
    }

    private void batch(ByteBuf batch) {
        meter.received.add(batch.readableBytes());
        long now = System.nanoTime();
        try {
            while (batch.isReadable() && !session.isClosed()) {
                session.handle(FrameCodec.decode(batch), now);
                tell();
            }
        } catch (ProtocolException e) {
            session.fail(e);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            wake();
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        session.disconnected();
        pass();
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // A broken WebSocket frame or a broken socket: either way this connection is of no more use.
        session.disconnected();
        pass();
        ctx.close();
    }

    /** One pass: send what waits, tell what happened, count, set the timer. */
    private void pass() {
        flushScheduled = false;
        send();
        tell();
        count();
        if (session.isClosed()
                || (session.isDraining() && session.streamCount() == 0 && !session.hasFrames())) {
            finish();
        } else {
            arm();
        }
    }

    private void send() {
        ChannelHandlerContext ctx = context();
        while (ctx.channel().isWritable() && session.hasFrames()) {
            ByteBuf message = writer.next(session, ctx.alloc());
            if (message == null) {
                return;
            }
            meter.sent.add(message.readableBytes());
            ctx.writeAndFlush(message, ctx.voidPromise());
        }
    }

    private void tell() {
        for (SessionEvent event = session.pollEvent(); event != null; event = session.pollEvent()) {
            tell(event);
        }
    }

    private void tell(SessionEvent event) {
        switch (event) {
            case SessionEvent.PeerHello e -> listener.peerHello(e.hello());
            case SessionEvent.Live e -> listener.live(e);
            case SessionEvent.Opened e -> {
                TunnelStream stream = new TunnelStream(this, e.streamId());
                streams.put(e.streamId(), stream);
                StreamListener told = listener.opened(stream, e);
                stream.listener = told;
            }
            case SessionEvent.ResponseHead e -> {
                StreamListener told = told(e.streamId());
                if (told != null) {
                    told.head(e.head(), e.options(), e.informational(), e.ended());
                }
            }
            case SessionEvent.Data e -> {
                StreamListener told = told(e.streamId());
                if (told != null) {
                    told.data(e.body(), e.last());
                } else {
                    session.consumed(e.streamId(), e.body().readableBytes());
                    e.body().release();
                }
            }
            case SessionEvent.Trailers e -> {
                StreamListener told = told(e.streamId());
                if (told != null) {
                    told.trailers(e.trailers());
                }
            }
            case SessionEvent.Sent e -> {
                StreamListener told = told(e.streamId());
                if (told != null) {
                    told.sent(e.bytes());
                }
            }
            case SessionEvent.StreamClosed e -> streams.remove(e.streamId());
            case SessionEvent.StreamReset e -> {
                TunnelStream stream = streams.remove(e.streamId());
                if (stream != null && stream.listener != null) {
                    stream.listener.reset(e);
                }
            }
            case SessionEvent.GoingAway e -> listener.goingAway(e);
            case SessionEvent.Closed e -> listener.closed(e);
        }
    }

    private @Nullable StreamListener told(int streamId) {
        TunnelStream stream = streams.get(streamId);
        return stream == null ? null : stream.listener;
    }

    private void count() {
        long buffered = session.bufferedBytes();
        int open = session.streamCount();
        if (buffered != meteredBuffered) {
            meter.buffered.add(buffered - meteredBuffered);
            meteredBuffered = buffered;
        }
        if (rttNanos != session.rttNanos()) {
            rttNanos = session.rttNanos();
        }
        if (open != meteredStreams) {
            meter.streams.add(open - meteredStreams);
            meteredStreams = open;
        }
    }

    private void finish() {
        if (finished) {
            return;
        }
        finished = true;
        ScheduledFuture<?> armed = timer;
        if (armed != null) {
            armed.cancel(false);
            timer = null;
        }
        if (!session.isClosed()) {
            session.disconnected();
            tell();
        }
        ChannelHandlerContext ctx = context();
        if (ctx.channel().isActive()) {
            ChannelFuture closing = ctx
                    .writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE));
            closing.addListener(ChannelFutureListener.CLOSE);
            // A half-open link never takes the close frame.
            ctx.executor().schedule(() -> ctx.close(), CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Re-arms the timer when the next deadline is earlier than it; a timer that fires early just asks again. */
    private void arm() {
        long deadline = session.nextDeadlineNanos();
        ScheduledFuture<?> armed = timer;
        if (armed != null && deadline - timerNanos >= 0) {
            return;
        }
        if (armed != null) {
            armed.cancel(false);
        }
        timerNanos = deadline;
        timer = eventLoop().schedule(this::onTimer, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void onTimer() {
        timer = null;
        session.onDeadline(System.nanoTime());
        pass();
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context, "not in a pipeline yet");
    }
}
