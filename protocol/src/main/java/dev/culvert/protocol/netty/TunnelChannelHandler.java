package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
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
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.ArrayDeque;
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
    /**
     * Frames that one pass of the event loop handles of one session; the rest waits for the next pass, behind the other
     * connections, and meanwhile nothing is read.
     */
    static final int FRAMES_A_PASS = 1024;
    /** What a head counts, in frames: HPACK makes much of few bytes. */
    static final int HEAD_COST = 16;
    /** A task that is due later runs behind the next look at the sockets; one that is due now may run before it. */
    private static final long NEXT_PASS_NANOS = TimeUnit.MICROSECONDS.toNanos(1);

    private final Session session;
    private final SessionListener listener;
    private final SessionMeter meter;
    private final SessionFigures figures;
    private final BatchWriter writer;
    private final OpenStreams streams;

    private @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> timer;
    private long timerNanos = Long.MAX_VALUE;
    private boolean flushScheduled;
    /** What was read and is not handled yet: the frames of this pass are spent. */
    private final ArrayDeque<WebSocketFrame> unhandled = new ArrayDeque<>(0);
    private int framesLeft = FRAMES_A_PASS;
    private boolean paused;
    /** The session seems dead; it is judged behind the next look at its socket. */
    private boolean lastLook;
    private boolean finished;
    /** The payload of the ping that waits for its pong: of several, the last (RFC 6455 §5.5.3). */
    private byte @Nullable [] ping;
    /** Whether a pong is on its way to the socket; the next one waits for it. */
    private boolean ponging;
    private WebSocketCloseStatus closeStatus = WebSocketCloseStatus.NORMAL_CLOSURE;

    /**
     * @param masks whether this side masks what it sends (RFC 6455 §5.3: the client does)
     * @param meter where this session's counts are added
     */
    public TunnelChannelHandler(Session session, boolean masks, SessionListener listener,
            SessionMeter meter) {
        this.session = session;
        this.listener = listener;
        this.meter = meter;
        this.figures = new SessionFigures(meter);
        this.writer = new BatchWriter(masks);
        this.streams = new OpenStreams(this, listener);
    }

    Session session() {
        return session;
    }

    /** What the peer said of itself, once it has. */
    public @Nullable Hello peerHello() {
        return session.peerHello();
    }

    /** Server: whether a stream can be opened now. */
    public boolean canOpen() {
        return session.canOpen();
    }

    /** Whether both sides have said that they have a capability (docs/protocol.md §4). */
    public boolean bothCan(long capability) {
        return session.bothCan(capability);
    }

    /** Whether one side has said that it goes away. */
    public boolean isDraining() {
        return session.isDraining();
    }

    /** Open streams as of the last pass. Callable from any thread. */
    public int streamCount() {
        return figures.streams();
    }

    /** The last round-trip time in nanoseconds, or -1 before the first. Callable from any thread. */
    public long rttNanos() {
        return figures.rttNanos();
    }

    /** Whether the session is established and not over. On the event loop. */
    public boolean isLive() {
        return session.isLive();
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
        wake();
        TunnelStream stream = streams.add(id, told);
        figures.show(session); // who asks for the number next sees this one too
        return stream;
    }

    /**
     * Client: proves another certificate. Takes both arrays.
     *
     * @return false when that is not possible now, see {@link Session#auth}
     */
    public boolean auth(byte[] certificate, byte[] proof) {
        boolean sent = session.auth(certificate, proof);
        wake();
        return sent;
    }

    /** Server: answers the client's other certificate. */
    public void answerAuth(ErrorCode code, String detail) {
        session.answerAuth(code, detail);
        wake();
    }

    /** Client: announces a document, see {@link Session#announce}. */
    public void announce(byte[] document) {
        session.announce(document);
        wake();
    }

    /** Takes or opens no new streams; the channel closes when those in flight are done. */
    public void goAway(ErrorCode code, int delayMillis, String detail) {
        session.goAway(code, delayMillis, detail);
        wake();
    }

    /** Tells the streams' listeners that the session will end soon, see {@link StreamListener#ending}. */
    public void ending() {
        streams.ending();
        wake();
    }

    /** Ends the session now; its streams are reset. */
    public void close(ErrorCode code, String detail) {
        session.close(code, detail);
        wake();
    }

    void forget(int streamId) {
        streams.forget(streamId);
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
        if (frame instanceof BinaryWebSocketFrame) {
            meter.received.add(frame.content().readableBytes());
        }
        unhandled.add(frame);
        if (!paused) {
            handle();
        }
        tell();
        wake();
    }

    /** Handles what was read, as far as this pass goes. */
    private void handle() {
        while (!unhandled.isEmpty()) {
            boolean done = true;
            try {
                done = handle(unhandled.element());
            } finally {
                if (done) {
                    unhandled.remove().release();
                }
            }
            if (!done) {
                paused = true;
                context().channel().config().setAutoRead(false);
                eventLoop().schedule(this::nextPass, NEXT_PASS_NANOS, TimeUnit.NANOSECONDS);
                return;
            }
        }
    }

    private void nextPass() {
        if (!paused) {
            return; // the connection ended meanwhile
        }
        paused = false;
        framesLeft = FRAMES_A_PASS;
        session.received();
        handle();
        if (!paused) {
            context().channel().config().setAutoRead(true);
        }
        tell();
        wake();
    }

    /** Whether all of it is handled. */
    private boolean handle(WebSocketFrame frame) {
        switch (frame) {
            case BinaryWebSocketFrame binary -> {
                return batch(binary.content());
            }
            case PingWebSocketFrame asked -> ping = ByteBufUtil.getBytes(asked.content());
            case PongWebSocketFrame pong -> {
            }
            case CloseWebSocketFrame close -> session.disconnected();
            default -> session.fail(ProtocolException.session(ErrorCode.PROTOCOL, "a text message"));
        }
        return true;
    }

    private boolean batch(ByteBuf batch) {
        long now = System.nanoTime();
        try {
            while (batch.isReadable() && !session.isClosed()) {
                if (framesLeft <= 0) {
                    return false;
                }
                Frame frame = FrameCodec.decode(batch);
                framesLeft -= frame instanceof Frame.Head ? HEAD_COST : 1;
                session.handle(frame, now);
                tell();
            }
        } catch (ProtocolException e) {
            session.fail(e);
        }
        return true;
    }

    private void drop() {
        paused = false;
        unhandled.forEach(WebSocketFrame::release);
        unhandled.clear();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        drop();
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
        paused = false;
        framesLeft = Integer.MAX_VALUE; // what came before the end counts
        handle();
        session.disconnected();
        pass();
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // A broken WebSocket frame, a broken socket, or no memory: either way this connection is of no more use.
        drop();
        end(cause);
        pass();
        ctx.close();
    }

    private void end(Throwable cause) {
        if (cause instanceof OutOfMemoryError) {
            figures.refusedMemory();
            session.close(ErrorCode.OVERLOADED, "the direct memory is used up");
        } else {
            session.disconnected();
        }
    }

    /** One pass: send what waits, tell what happened, count, set the timer. */
    private void pass() {
        flushScheduled = false;
        if (!paused) {
            framesLeft = FRAMES_A_PASS;
        }
        pong();
        try {
            send();
        } catch (OutOfMemoryError e) { // of direct memory: the heap's ends the process
            drop();
            end(e);
            context().close();
        }
        tell();
        figures.show(session);
        if (session.isClosed()
                || (session.isDraining() && session.streamCount() == 0 && !session.hasFrames())) {
            finish();
        } else {
            arm();
        }
    }

    /** Answers while the socket takes it, one at a time: a peer that pings and does not read costs no memory. */
    private void pong() {
        byte[] payload = ping;
        ChannelHandlerContext ctx = context();
        if (payload == null || ponging || finished || !ctx.channel().isWritable()) {
            return;
        }
        ping = null;
        ponging = true;
        ctx.writeAndFlush(new PongWebSocketFrame(Unpooled.wrappedBuffer(payload))).addListener(done -> {
            ponging = false;
            if (ping != null) {
                wake();
            }
        });
    }

    private void send() {
        ChannelHandlerContext ctx = context();
        // The last words of a closed session are few, and wait for no socket: its close stands behind them.
        while (session.hasFrames() && (ctx.channel().isWritable() || session.isClosed())) {
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
            case SessionEvent.OfStream e -> streams.tell(e);
            case SessionEvent.PeerHello e -> listener.peerHello(e.hello());
            case SessionEvent.Live e -> listener.live(e);
            case SessionEvent.ProofWanted e -> listener.proofWanted(e.server());
            case SessionEvent.Auth e -> listener.auth(e);
            case SessionEvent.AuthAnswer e -> listener.authAnswered(e);
            case SessionEvent.Announced e -> listener.announced(e);
            case SessionEvent.GoingAway e -> listener.goingAway(e);
            case SessionEvent.Closed e -> {
                closeStatus = status(e.code());
                listener.closed(e);
            }
        }
    }

    /** docs/protocol.md §11: 1002 for a peer's fault, 1011 for an own one. */
    private static WebSocketCloseStatus status(ErrorCode code) {
        return switch (code) {
            case PROTOCOL, FLOW_CONTROL, FRAME_SIZE, COMPRESSION, HEAD_TOO_LARGE ->
                WebSocketCloseStatus.PROTOCOL_ERROR;
            case INTERNAL -> WebSocketCloseStatus.INTERNAL_SERVER_ERROR;
            default -> WebSocketCloseStatus.NORMAL_CLOSURE;
        };
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
            ctx.writeAndFlush(new CloseWebSocketFrame(closeStatus)).addListener(ChannelFutureListener.CLOSE);
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
        long now = System.nanoTime();
        if (!lastLook && session.isOverdue(now)) {
            // This loop may have been busy for long, and what the peer sent waits in the socket.
            lastLook = true;
            timer = eventLoop().schedule(this::onTimer, NEXT_PASS_NANOS, TimeUnit.NANOSECONDS);
            return;
        }
        lastLook = false;
        session.onDeadline(now);
        pass();
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context, "not in a pipeline yet");
    }
}
