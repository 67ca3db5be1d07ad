package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.protocol.session.WindowAccount;
import dev.culvert.server.runtime.RegisteredRuntime;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** Both ends of one session without a socket: the server's in a channel, the client's as plain state. */
public final class TunnelEnds implements SessionListener {
    private static final SessionLimits LIMITS = SessionLimits.defaults();

    public final Hello hello;
    private final TunnelChannelHandler handler;
    private final EmbeddedChannel channel;
    private final Session client;
    /** What the server told the client to go away with. */
    public final List<ErrorCode> goneAway = new ArrayList<>();
    /** The milliseconds after which it may dial again. */
    final List<Integer> delays = new ArrayList<>();
    public @Nullable LiveSession live;

    private TunnelEnds(Hello hello) {
        this.hello = hello;
        Session server = new Session(Session.Role.SERVER,
                hello(new UUID(9, 9), 0, false, Hello.TCP | Hello.STANDBY), LIMITS,
                WindowAccount.NONE,
                System::nanoTime);
        handler = new TunnelChannelHandler(server, false, this, new SessionMeter());
        channel = new EmbeddedChannel(handler);
        client = new Session(Session.Role.CLIENT, hello, LIMITS, WindowAccount.NONE, System::nanoTime);
    }

    private TunnelEnds(Hello hello, Consumer<ChannelHandlerContext> server) {
        this.hello = hello;
        channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        server.accept(channel.pipeline().firstContext());
        handler = channel.pipeline().get(TunnelChannelHandler.class);
        client = new Session(Session.Role.CLIENT, hello, LIMITS, WindowAccount.NONE, System::nanoTime);
    }

    /**
     * A connection of a client that wants in.
     *
     * @param server puts its session's handler last in the pipeline
     */
    public static TunnelEnds of(UUID instance, int connection, boolean takeOver, long capabilities,
            Consumer<ChannelHandlerContext> server) {
        return new TunnelEnds(hello(instance, connection, takeOver, capabilities), server);
    }

    /** A connection of a client that wants in. */
    public static TunnelEnds of(UUID instance, int connection, boolean takeOver) {
        return new TunnelEnds(hello(instance, connection, takeOver));
    }

    /** A connection of a client that wants in, and has more than others. */
    static TunnelEnds taking(UUID instance, long capabilities) {
        return new TunnelEnds(hello(instance, 0, true, capabilities));
    }

    /** A connection of a client that waits while another one owns the runtime. */
    public static TunnelEnds waiting(UUID instance, int connection, int priority) {
        return new TunnelEnds(hello(instance, connection, false, Hello.STANDBY).withStandby(priority));
    }

    /** Asks to be let in; null when the connection was refused. It does not wait. */
    public static @Nullable LiveSession admit(TunnelRegistry registry, RegisteredRuntime runtime, Hello hello,
            LongFunction<LiveSession> make) {
        return registry.admit(runtime, hello, new TunnelRegistry.Sessions() {
            @Override
            public LiveSession live(long generation) {
                return make.apply(generation);
            }

            @Override
            public WaitingSession waiting() {
                throw new AssertionError("it waits");
            }
        }) instanceof SessionVerdict.Serves serves ? serves.session() : null;
    }

    private static Hello hello(UUID instance, int connection, boolean takeOver) {
        return hello(instance, connection, takeOver, 0);
    }

    private static Hello hello(UUID instance, int connection, boolean takeOver, long capabilities) {
        return new Hello(Hello.VERSION, Hello.VERSION, capabilities, instance.getMostSignificantBits(),
                instance.getLeastSignificantBits(), connection, takeOver, LIMITS.accepts(),
                new Hello.Nonce(1, 2, 3, 4), "test/1");
    }

    /** The generations of owners for which the client was asked to wait. */
    public final List<Long> waiting = new ArrayList<>();
    /** The generations with which the client's session became live. */
    public final List<Long> generations = new ArrayList<>();

    /** The client stops soon. */
    public void leave() {
        client.leave();
        drive();
    }

    /** The client does not respond any more: what the server sends is lost. */
    public void mute() {
        mute = true;
    }

    private boolean mute;

    EventLoop loop() {
        return channel.eventLoop();
    }

    public TunnelChannelHandler handler() {
        return handler;
    }

    /** The streams' heads that have come to the client. */
    final List<SessionEvent.Opened> opened = new ArrayList<>();
    /** The bodies that have come to the client. */
    final StringBuilder bodies = new StringBuilder();

    /** What the server wants to be proven to it. */
    public @Nullable Hello proofWanted;

    /** The server's hello. */
    public Hello serverHello() {
        return Objects.requireNonNull(client.peerHello());
    }

    /** What the server said to certificates that the client proved. */
    public final List<ErrorCode> authAnswers = new ArrayList<>();

    /** The client proves a certificate. */
    public void prove(byte[] certificate, byte[] proof) {
        client.auth(certificate, proof);
        drive();
    }

    /** The connection breaks. */
    public void breakOff() {
        channel.close();
    }

    /** The client takes no more streams. */
    void clientGoesAway() {
        client.goAway(ErrorCode.DRAINING, 0, "");
    }

    /** The client answers its newest stream. */
    public void answer(String status) {
        answer(status, true);
    }

    /** The client answers its newest stream with a head. */
    void answer(String status, boolean ended) {
        client.respond(opened.getLast().streamId(), new DefaultHttp2Headers(false, 1).status(status),
                HeadOptions.NONE, false, ended);
        drive();
    }

    /** The client sends a part of its answer's body. */
    void answerBody(int bytes) {
        client.data(opened.getLast().streamId(), Unpooled.wrappedBuffer(new byte[bytes]));
        drive();
    }

    /** The client ends its answer. */
    void answerEnd() {
        client.end(opened.getLast().streamId(), null);
        drive();
    }

    /** Time passes on the session's event loop. */
    public void pass(Duration time) {
        channel.advanceTimeBy(time.toMillis(), TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        drive();
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    public LiveSession live() {
        return Objects.requireNonNull(live, "not admitted");
    }

    /** Exchanges what waits on both sides until nothing does. */
    public void drive() {
        channel.runPendingTasks();
        for (Object message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
            if (message instanceof ByteBuf batch && !mute) {
                receive(batch);
            } else {
                ReferenceCountUtil.release(message); // the WebSocket's close
            }
        }
        ByteBuf out = Unpooled.buffer(FrameCodec.MAX_BATCH);
        while (client.pollFrame(out)) {
            // all of it in one batch
        }
        if (out.isReadable() && channel.isOpen()) {
            channel.writeInbound(new BinaryWebSocketFrame(out));
            drive();
        } else {
            out.release();
        }
        for (SessionEvent event = client.pollEvent(); event != null; event = client.pollEvent()) {
            if (event instanceof SessionEvent.GoingAway going) {
                goneAway.add(going.code());
                delays.add(going.delayMillis());
            } else if (event instanceof SessionEvent.Waiting waits) {
                waiting.add(waits.generation());
            } else if (event instanceof SessionEvent.Live now) {
                generations.add(now.generation());
            } else if (event instanceof SessionEvent.Opened stream) {
                opened.add(stream);
            } else if (event instanceof SessionEvent.ProofWanted wanted) {
                proofWanted = wanted.server();
            } else if (event instanceof SessionEvent.AuthAnswer answer) {
                authAnswers.add(answer.code());
            } else if (event instanceof SessionEvent.Data data) {
                bodies.append(data.body().toString(StandardCharsets.UTF_8));
                data.body().release();
            }
        }
    }

    private void receive(ByteBuf batch) {
        batch.skipBytes((batch.getByte(batch.readerIndex() + 1) & 0x7f) == 126 ? 4 : 2);
        while (batch.isReadable()) {
            client.handle(FrameCodec.decode(batch), System.nanoTime());
        }
        batch.release();
    }

    public void close() {
        channel.finishAndReleaseAll();
    }

    @Override
    public void live(SessionEvent.Live live) {}

    @Override
    public void goingAway(SessionEvent.GoingAway goingAway) {}

    @Override
    public void closed(SessionEvent.Closed closed) {}
}
