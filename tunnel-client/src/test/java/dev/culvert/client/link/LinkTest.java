package dev.culvert.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.client.dial.DialPace;
import dev.culvert.client.identity.Credentials;
import dev.culvert.client.identity.Identity;
import dev.culvert.client.identity.RenewalTimes;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.netty.SessionListener;
import dev.culvert.protocol.netty.SessionMeter;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.protocol.session.WindowAccount;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.SwallowingSink;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameEncoder;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** One connection of a client, with a server at the other end that the test plays. */
class LinkTest {
    private static final CertificateAuthority CA = CertificateAuthority.create("tests", Clock.systemUTC());
    private static final Duration NEVER = Duration.ofHours(24);
    private static final SessionLimits LIMITS = SessionLimits.defaults();

    private final IoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
    private final List<ServerEnd> sessions = new CopyOnWriteArrayList<>();
    private final SessionMeter meter = new SessionMeter();
    private static final TlsLink TLS = TlsLink.of("tunnel", "tls.postQuantum", PostQuantum.PREFER);
    private volatile Credentials newest = credentials();
    private final TakeOver takeOver = new TakeOver(false);
    private final List<String> changes = new CopyOnWriteArrayList<>();
    private volatile boolean owned;
    private @Nullable Channel listener;
    private @Nullable Link link;

    private static Credentials credentials() {
        return Credentials.of(new Identity(CA.issueServer(List.of("acme"), List.of(), Duration.ofHours(1)),
                new ClientIdentity("acme", "prod", "id-1"), ServerTrust.inSystemRoots()), TLS);
    }

    @AfterEach
    void close() throws Exception {
        if (link != null) {
            link.close();
        }
        if (listener != null) {
            listener.close().sync();
        }
        loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
    }

    private static final class NoStream implements StreamListener {
        @Override
        public void data(ByteBuf body, boolean last) {
            body.release();
        }

        @Override
        public void trailers(Http2Headers trailers) {}

        @Override
        public void sent(int bytes) {}

        @Override
        public void reset(SessionEvent.StreamReset reset) {}
    }

    /** The server's end of a session. */
    private static final class ServerEnd implements SessionListener {
        private final TunnelChannelHandler handler;
        /** The certificates that the client has proven here. */
        private final List<byte[]> proven = new CopyOnWriteArrayList<>();
        private volatile boolean closed;
        /** Whether proofs are answered by the test. */
        private volatile boolean holds;

        /** Whether another instance owns the runtime, so that the client has to wait. */
        private final boolean owned;
        private volatile @Nullable Hello peer;
        private volatile boolean left;

        ServerEnd(boolean owned) {
            this.owned = owned;
            var hello = new Hello(Hello.VERSION, Hello.VERSION, Hello.AUTH | Hello.STANDBY, 9, 9, 0, false,
                    LIMITS.accepts(),
                    new Hello.Nonce(1, 2, 3, 4), "test/1");
            handler = new TunnelChannelHandler(new Session(Session.Role.SERVER, hello, LIMITS,
                    WindowAccount.NONE, System::nanoTime), false, this, new SessionMeter());
        }

        @Override
        public void peerHello(Hello hello) {
            peer = hello;
            if (owned) {
                handler.await(1, 2, 2, "acme/prod", "acme-prod.t.example");
            } else {
                promote();
            }
        }

        void promote() {
            handler.ready(1, 2, 3, "acme/prod", "acme-prod.t.example");
        }

        @Override
        public void leaving() {
            left = true;
        }

        @Override
        public void live(SessionEvent.Live live) {}

        @Override
        public void auth(SessionEvent.Auth auth) {
            proven.add(auth.certificate());
            if (!holds) {
                handler.answerAuth(ErrorCode.NO_ERROR, "");
            }
        }

        void run(Runnable command) {
            handler.eventLoop().execute(command);
        }

        /** Opens a stream that does not end. */
        void open() {
            run(() -> handler.open(StreamKind.HTTP,
                    new DefaultHttp2Headers(false, 4).method("GET").scheme("https").authority("a").path("/"),
                    false, new NoStream()));
        }

        @Override
        public void goingAway(SessionEvent.GoingAway goingAway) {}

        @Override
        public void closed(SessionEvent.Closed end) {
            closed = true;
        }
    }

    /** Ends a WebSocket, and adds the session once it is connected. */
    private static final class Begin extends ChannelInboundHandlerAdapter {
        private final boolean server;
        private final Consumer<Channel> session;

        Begin(boolean server, Consumer<Channel> session) {
            this.server = server;
            this.session = session;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.pipeline()
                    .addLast(new WebSocket13FrameDecoder(server, false, 1 << 16),
                            new WebSocket13FrameEncoder(!server));
            session.accept(ctx.channel());
        }
    }

    private static Mono<Channel> dial(LocalAddress address, EventLoop loop, Consumer<Channel> upgraded) {
        return Mono.create(sink -> new Bootstrap().group(loop)
                .channel(LocalChannel.class)
                .handler(new Begin(false, upgraded))
                .connect(address));
    }

    private Link start(Duration sessionLife) throws Exception {
        var address = new LocalAddress(LinkTest.class);
        listener = new ServerBootstrap().group(loops)
                .channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Begin(true, LinkTest.this::begin));
                    }
                })
                .bind(address)
                .sync()
                .channel();
        var random = new SecureRandom();
        var shared = new Link.Shared((server, tls, number, loop, upgraded) -> dial(address, loop, upgraded),
                List.of(URI.create("wss://t.example")), () -> newest, (request, response) -> swallowed(),
                () -> null, meter, new UUID(1, 1), "test/1", random, takeOver, 7, Duration.ofSeconds(30),
                sessionLife, new DialPace(), new RenewalTimes(Clock.systemUTC(), random),
                new Link.Observer() {
                    @Override
                    public void live(Link of, SessionEvent.Live live) {}

                    @Override
                    public void waiting(SessionEvent.Waiting owner, boolean news) {
                        changes.add(news ? "waits" : "waits on");
                    }

                    @Override
                    public void promoted() {
                        changes.add("promoted");
                    }

                    @Override
                    public void lost(Link of, String reason, boolean planned) {}

                    @Override
                    public void refused() {}

                    @Override
                    public void failed(String reason) {}
                });
        Link started = new Link(shared, 0, loops.next());
        link = started;
        started.start(Duration.ZERO);
        return started;
    }

    private void begin(Channel channel) {
        var end = new ServerEnd(owned);
        channel.pipeline().addLast(end.handler);
        sessions.add(end);
    }

    private static RequestSink swallowed() {
        return SwallowingSink.INSTANCE;
    }

    private ServerEnd session(int number) {
        await().until(() -> sessions.size() > number && sessions.get(number).handler.isLive());
        return sessions.get(number);
    }

    private void renewed() {
        newest = credentials();
        Objects.requireNonNull(link).prove();
    }

    private byte[] certificate() throws Exception {
        return newest.identity().material().leaf().getEncoded();
    }

    /** A session with a stream, and the one that has replaced it. */
    private List<ServerEnd> replaced() throws Exception {
        start(NEVER);
        ServerEnd old = session(0);
        old.open();
        await().until(() -> meter.streams() == 1);
        old.run(() -> old.handler.goAway(ErrorCode.DRAINING, 0, "a newer connection replaced this one"));
        return List.of(old, session(1));
    }

    @Test
    void replacedSessionWithStreamsProvesToo() throws Exception {
        List<ServerEnd> both = replaced();

        renewed();

        for (ServerEnd session : both) {
            await().until(() -> session.proven.size() == 1);
            assertThat(session.proven.getFirst()).isEqualTo(certificate());
        }
    }

    @Test
    void eachRenewalIsProvenByEverySession() throws Exception {
        List<ServerEnd> both = replaced();
        for (int renewal = 1; renewal <= 3; renewal++) {
            int proofs = renewal;
            renewed();
            await().until(() -> both.stream().allMatch(session -> session.proven.size() == proofs));
        }

        assertThat(both).allSatisfy(session -> {
            assertThat(session.proven.getLast()).isEqualTo(certificate());
            assertThat(session.closed).isFalse();
        });
    }

    @Test
    void pendingProofOfOneSessionDelaysNoOther() throws Exception {
        List<ServerEnd> both = replaced();
        ServerEnd slow = both.getFirst();
        ServerEnd other = both.getLast();
        slow.holds = true;
        renewed();
        await().until(() -> slow.proven.size() == 1);

        renewed();
        await().until(() -> other.proven.size() == 2);
        assertThat(slow.proven).hasSize(1);
        slow.run(() -> slow.handler.answerAuth(ErrorCode.NO_ERROR, ""));

        await().until(() -> slow.proven.size() == 2);
        assertThat(slow.proven.getLast()).isEqualTo(certificate());
        assertThat(slow.closed).isFalse();
    }

    @Test
    void unjudgedProofOfOneSessionIsRepeatedThere() throws Exception {
        newest = Credentials.of(new Identity(
                CA.issueServer(List.of("acme"), List.of(), Duration.ofSeconds(10)),
                new ClientIdentity("acme", "prod", "id-1"), ServerTrust.inSystemRoots()), TLS);
        List<ServerEnd> both = replaced();
        ServerEnd busy = both.getFirst();
        busy.holds = true;
        renewed();
        await().until(() -> busy.proven.size() == 1);

        busy.holds = false;
        busy.run(() -> busy.handler.answerAuth(ErrorCode.OVERLOADED, "busy"));

        await().until(() -> busy.proven.size() == 2);
        assertThat(both.getLast().proven).hasSize(1);
    }

    @Test
    void pausedSessionWithStreamsProvesToo() throws Exception {
        Link paused = start(NEVER);
        ServerEnd session = session(0);
        session.open();
        await().until(() -> meter.streams() == 1);
        paused.pause(NEVER);

        renewed();

        await().until(() -> session.proven.size() == 1);
    }

    private ServerEnd waits(int number) {
        await().until(() -> sessions.size() > number && changes.size() > number);
        return sessions.get(number);
    }

    @Test
    void clientThatWaitsIsLiveOnceItIsPromoted() throws Exception {
        owned = true;
        Link waiting = start(NEVER);
        ServerEnd session = waits(0);
        assertThat(Objects.requireNonNull(session.peer).standby()).isEqualTo(7);
        assertThat(Objects.requireNonNull(session.peer).takeOver()).isFalse();
        assertThat(takeOver.isWaiting()).isTrue();
        assertThat(takeOver.waitsBeside(1)).isTrue();
        assertThat(waiting.isLive()).isFalse();

        session.run(session::promote);

        await().until(() -> waiting.isLive() && session.handler.isLive());
        assertThat(changes).containsExactly("waits", "promoted");
        assertThat(takeOver.isWaiting()).isFalse();
        assertThat(takeOver.isOwner()).isTrue();
    }

    @Test
    void clientThatWasReplacedWaitsWhileItsStreamsGoOn() throws Exception {
        start(NEVER);
        ServerEnd old = session(0);
        old.open();
        await().until(() -> meter.streams() == 1);
        owned = true;
        old.run(() -> old.handler.goAway(ErrorCode.REPLACED, 0, "another client took this runtime over"));

        await().until(() -> sessions.size() == 2 && takeOver.isWaiting());
        assertThat(old.closed).isFalse();
        assertThat(takeOver.isOwner()).isFalse();
    }

    @Test
    void clientThatLosesTheSessionThatWaitsDialsAgain() throws Exception {
        owned = true;
        start(NEVER);
        ServerEnd first = waits(0);

        first.run(() -> first.handler.goAway(ErrorCode.DRAINING, 0, "the server stops"));

        waits(1);
        assertThat(changes).containsExactly("waits", "waits on");
    }

    @Test
    void renewedCertificateIsShownByAnotherSessionThatWaits() throws Exception {
        owned = true;
        start(NEVER);
        ServerEnd first = waits(0);

        renewed();

        waits(1);
        assertThat(first.proven).isEmpty();
    }

    @Test
    void clientThatStopsAsksForASuccessorAndServesUntilThen() throws Exception {
        Link stopping = start(NEVER);
        ServerEnd session = session(0);
        await().until(stopping::isServing);

        stopping.handOver();
        await().until(() -> session.left);
        assertThat(stopping.isServing()).isTrue();
        session.run(() -> session.handler.goAway(ErrorCode.REPLACED, 0, ""));

        await().until(() -> !stopping.isServing());
        await().until(() -> session.closed);
        assertThat(sessions).hasSize(1);
    }

    @Test
    void sessionIsReplacedWhenItIsOldAndItsStreamsGoOn() throws Exception {
        start(Duration.ofSeconds(1));
        ServerEnd old = session(0);
        old.open();
        await().until(() -> meter.streams() == 1);

        session(1);

        assertThat(old.closed).isFalse();
        assertThat(meter.streams()).isEqualTo(1);
    }
}
