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
import dev.culvert.protocol.session.WindowAccount;
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
 * Runs a {@link Session} on a WebSocket channel. Last in the pipeline, after Netty's WebSocket decoder and
 * aggregator. All frames of one event-loop pass are sent in one batch, one WebSocket message and one flush. A
 * further batch is filled only after the socket has taken the previous one (docs/protocol.md §7).
 *
 * <p>One class, because a pass of the event loop is one sequence: handle what was read up to the limit, send,
 * deliver events, set the timer. {@link BatchWriter} writes messages, {@link OpenStreams} finds listeners.
 *
 * <p>All methods except {@link #eventLoop}, {@link #streamCount} and {@link #rttNanos} are called on the
 * channel's event loop.
 */
public final class TunnelChannelHandler extends ChannelInboundHandlerAdapter {
    /** The time in which a peer must read the closing frames. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
    /**
     * The number of frames of one session that one pass of the event loop handles. Further frames wait for
     * the next pass, after the other connections. Meanwhile the channel is not read.
     */
    static final int FRAMES_A_PASS = 1024;
    /** The cost of a head in frames: HPACK expands few bytes to a large head. */
    static final int HEAD_COST = 16;
    /** A delayed task runs after the next poll of the sockets; a task that is due now may run before it. */
    private static final long NEXT_PASS_NANOS = TimeUnit.MICROSECONDS.toNanos(1);

    private final Session session;
    private final SessionListener listener;
    private final SessionMeter meter;
    private final SessionFigures figures;
    private final BatchWriter writer;
    private final OpenStreams streams;
    private final UnsentBytes unsent = new UnsentBytes();

    private @Nullable ChannelHandlerContext context;
    private @Nullable ScheduledFuture<?> timer;
    private long timerNanos = Long.MAX_VALUE;
    private boolean flushScheduled;
    /** Frames that were read but not handled, because the limit of this pass is reached. */
    private final ArrayDeque<WebSocketFrame> unhandled = new ArrayDeque<>(0);
    private int framesLeft = FRAMES_A_PASS;
    private boolean paused;
    /** Whether the session seems dead. It is judged after the next poll of its socket. */
    private boolean lastLook;
    private boolean finished;
    /** The payload of the last ping without a pong (RFC 6455 §5.5.3 allows to skip earlier ones). */
    private byte @Nullable [] ping;
    /** Whether a pong is being written; the next pong waits for it. */
    private boolean ponging;
    private WebSocketCloseStatus closeStatus = WebSocketCloseStatus.NORMAL_CLOSURE;

    /**
     * @param masks whether this side masks its messages (RFC 6455 §5.3: the client does)
     * @param meter adds up this session's counts
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

    /** The peer's hello, or null before it was received. */
    public @Nullable Hello peerHello() {
        return session.peerHello();
    }

    /** Server: whether a stream can be opened now. */
    public boolean canOpen() {
        return session.canOpen();
    }

    /** Whether both sides have declared a capability (docs/protocol.md §4). */
    public boolean bothCan(long capability) {
        return session.bothCan(capability);
    }

    /** Whether one side has sent a go-away. */
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

    /** Whether the session is established and has not ended. Called on the event loop. */
    public boolean isLive() {
        return session.isLive();
    }

    /** The event loop of this session. */
    public EventLoop eventLoop() {
        return context().channel().eventLoop();
    }

    /** Server: names who pays for the windows of this session's streams. Before {@link #ready}. */
    public void windowsOf(WindowAccount account) {
        session.windowsOf(account);
    }

    /** Server: accepts the client, or promotes it if it waits. */
    public void ready(long sessionHigh, long sessionLow, long generation, String runtime, String host) {
        session.ready(sessionHigh, sessionLow, generation, runtime, host);
        wake();
    }

    /** Server: lets the client wait, see {@link Session#await}. */
    public void await(long sessionHigh, long sessionLow, long generation, String runtime, String host) {
        session.await(sessionHigh, sessionLow, generation, runtime, host);
        wake();
    }

    /** Client: reports that this process stops soon, see {@link Session#leave}. */
    public boolean leave() {
        boolean sent = session.leave();
        wake();
        return sent;
    }

    /**
     * Server: opens a stream. Check {@link #canOpen} first.
     *
     * @return the stream, or null if the peer does not accept a head of this size
     */
    public @Nullable TunnelStream open(StreamKind kind, Http2Headers head, boolean ended,
            StreamListener told) {
        int id = session.open(kind, head, HeadOptions.NONE, ended);
        if (id == 0) {
            return null;
        }
        wake();
        TunnelStream stream = streams.add(id, told);
        figures.show(session); // the next reader of the count sees this stream too
        return stream;
    }

    /**
     * Client: proves another certificate. Takes ownership of both arrays.
     *
     * @return false if that is not possible now, see {@link Session#auth}
     */
    public boolean auth(byte[] certificate, byte[] proof) {
        boolean sent = session.auth(certificate, proof);
        wake();
        return sent;
    }

    /** Server: answers the client's proof of another certificate. */
    public void answerAuth(ErrorCode code, String detail) {
        session.answerAuth(code, detail);
        wake();
    }

    /** Client: announces a document, see {@link Session#announce}. */
    public void announce(byte[] document) {
        session.announce(document);
        wake();
    }

    /** Accepts and opens no new streams. The channel closes when the streams in progress have ended. */
    public void goAway(ErrorCode code, int delayMillis, String detail) {
        session.goAway(code, delayMillis, detail);
        wake();
    }

    /** Notifies the streams' listeners that the session will end soon, see {@link StreamListener#ending}. */
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

    /** Schedules a send at the end of this event-loop pass, together with all other frames of the pass. */
    void wake() {
        if (!flushScheduled && context != null) {
            flushScheduled = true;
            eventLoop().execute(this::pass);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        unsent.begin(ctx.channel());
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

    /** Handles the frames that were read, up to the limit of this pass. */
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

    /** Handles one WebSocket frame. Returns whether it is completely handled. */
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
        framesLeft = Integer.MAX_VALUE; // all frames before the end are handled
        handle();
        session.disconnected();
        pass();
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // An invalid WebSocket frame, a socket error, or exhausted memory: the connection is unusable.
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

    /** One pass: sends waiting frames, delivers events, counts, and sets the timer. */
    private void pass() {
        flushScheduled = false;
        if (!paused) {
            framesLeft = FRAMES_A_PASS;
        }
        pong();
        try {
            send();
        } catch (OutOfMemoryError e) { // direct memory; an exhausted heap ends the process
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

    /** Sends one pong at a time, so that a peer that sends pings but does not read costs no memory. */
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
        // The closing frames of a session are few. They do not wait for the socket, because the close follows
        // them.
        while (session.hasFrames() && (ctx.channel().isWritable() || session.isClosed())) {
            ByteBuf message = writer.next(session, unsent.batchBytes(), ctx.alloc());
            if (message == null) {
                return;
            }
            int bytes = message.readableBytes();
            meter.sent.add(bytes);
            unsent.wrote(bytes);
            ctx.writeAndFlush(message, ctx.voidPromise());
            if (!ctx.channel().isWritable()) {
                unsent.full(ctx.channel(), System.nanoTime());
            }
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
            case SessionEvent.Waiting e -> listener.waiting(e);
            case SessionEvent.Leaving e -> listener.leaving();
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

    /**
     * The WebSocket close status: 1002 for a fault of the peer, 1011 for an own one (docs/protocol.md §11).
     */
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
            // A half-open connection never takes the close frame.
            ctx.executor().schedule(() -> ctx.close(), CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Re-arms the timer if the next deadline is earlier. A timer that fires too early only re-arms itself.
     */
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
            // This loop may have been busy for long, so frames of the peer may wait in the socket.
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
