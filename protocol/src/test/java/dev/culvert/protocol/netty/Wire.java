package dev.culvert.protocol.netty;

import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.protocol.session.WindowAccount;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A server's and a client's driver on two channels without sockets; bytes cross when told to. */
final class Wire implements AutoCloseable {
    final End server;
    final End client;

    Wire() {
        this(0);
    }

    /** @param capabilities of both sides, beside AUTH; a server with PROOF is ready when its test says so */
    Wire(long capabilities) {
        server = new End(Role.SERVER, Hello.AUTH | capabilities);
        client = new End(Role.CLIENT, Hello.AUTH | capabilities);
        cross();
    }

    /** What one side's channel, session and application are. The application keeps all it is told. */
    static final class End implements SessionListener {
        final SessionMeter meter = new SessionMeter();
        final TunnelChannelHandler handler;
        final EmbeddedChannel channel;
        final List<SessionEvent> told = new ArrayList<>();
        /** Makes the listeners of streams that the server opens. */
        Function<TunnelStream, StreamListener> application = Told::new;

        private final boolean proves;

        End(Role role, long capabilities) {
            proves = (capabilities & Hello.PROOF) != 0;
            boolean server = role == Role.SERVER;
            SessionLimits limits = SessionLimits.defaults();
            var hello = new Hello(Hello.VERSION, Hello.VERSION, capabilities, server ? 1 : 2, 7, 0, false,
                    limits.accepts(),
                    new Hello.Nonce(1, 2, 3, 4), "wire");
            handler = new TunnelChannelHandler(
                    new Session(role, hello, limits, WindowAccount.NONE, System::nanoTime), !server,
                    this,
                    meter);
            channel = new EmbeddedChannel(new WebSocket13FrameDecoder(server, false, FrameCodec.MAX_BATCH),
                    new WebSocket13FrameEncoder(!server), new WebSocketFrameAggregator(FrameCodec.MAX_BATCH),
                    handler);
        }

        @Override
        public void peerHello(Hello hello) {
            if (!proves) {
                ready();
            }
        }

        void ready() {
            handler.ready(1, 2, 3, "acme/prod", "acme-prod.test");
        }

        @Override
        public void proofWanted(Hello hello) {
            told.add(new SessionEvent.ProofWanted(hello));
        }

        @Override
        public void live(SessionEvent.Live live) {
            told.add(live);
        }

        @Override
        public void auth(SessionEvent.Auth auth) {
            told.add(auth);
        }

        @Override
        public void authAnswered(SessionEvent.AuthAnswer answer) {
            told.add(answer);
        }

        @Override
        public StreamListener opened(TunnelStream stream, SessionEvent.Opened opened) {
            return application.apply(stream);
        }

        @Override
        public void goingAway(SessionEvent.GoingAway goingAway) {
            told.add(goingAway);
        }

        @Override
        public void closed(SessionEvent.Closed closed) {
            told.add(closed);
        }

        /** Opens a GET from the server; what it is answered is kept. */
        Told get(String path) {
            var answer = new Told(null);
            answer.stream = handler.open(StreamKind.HTTP, request(path), true, answer);
            return answer;
        }

        void full(boolean full) {
            Objects.requireNonNull(channel.unsafe().outboundBuffer()).setUserDefinedWritability(1, !full);
            channel.runPendingTasks();
        }
    }

    /** Keeps what a stream's listener is told, and consumes bytes at once. */
    static final class Told implements StreamListener {
        final StringBuilder body = new StringBuilder();
        @Nullable
        TunnelStream stream;
        @Nullable
        Http2Headers head;
        SessionEvent.@Nullable StreamReset reset;
        boolean ended;

        Told(@Nullable TunnelStream stream) {
            this.stream = stream;
        }

        @Override
        public void head(Http2Headers fields, HeadOptions options,
                boolean informational, boolean last) {
            head = fields;
            ended |= last;
        }

        @Override
        public void data(ByteBuf bytes, boolean last) {
            body.append(bytes.toString(StandardCharsets.US_ASCII));
            Objects.requireNonNull(stream).consumed(bytes.readableBytes());
            bytes.release();
            ended |= last;
        }

        @Override
        public void trailers(Http2Headers trailers) {
            ended = true;
        }

        @Override
        public void sent(int bytes) {}

        @Override
        public void reset(SessionEvent.StreamReset cause) {
            reset = cause;
        }
    }

    static Http2Headers request(String path) {
        return new DefaultHttp2Headers().method("GET").scheme("https").authority("a.b").path(path);
    }

    static Http2Headers ok() {
        return new DefaultHttp2Headers().status("200");
    }

    static ByteBuf ascii(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    /** Runs both loops and moves bytes until nothing moves any more. */
    void cross() {
        boolean moved = true;
        while (moved) {
            moved = move(server.channel, client.channel);
            moved |= move(client.channel, server.channel);
        }
    }

    private static boolean move(EmbeddedChannel from, EmbeddedChannel to) {
        from.runPendingTasks();
        boolean moved = false;
        for (ByteBuf bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
            moved = true;
            if (to.isActive()) {
                to.writeInbound(bytes);
            } else {
                bytes.release();
            }
        }
        return moved;
    }

    /** What a side has put on the wire since, as one array a message; the other side never sees it. */
    static List<byte[]> intercept(End from) {
        from.channel.runPendingTasks();
        List<byte[]> messages = new ArrayList<>();
        for (ByteBuf bytes = from.channel.readOutbound(); bytes != null; bytes = from.channel
                .readOutbound()) {
            messages.add(ByteBufUtil.getBytes(bytes));
            bytes.release();
        }
        return messages;
    }

    @Override
    public void close() {
        server.channel.finishAndReleaseAll();
        client.channel.finishAndReleaseAll();
    }
}
