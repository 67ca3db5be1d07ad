package dev.culvert.server.link;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.relay.testing.TlsCaller;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.enrol.CertificateIssuer;
import dev.culvert.server.enrol.EnrolmentService;
import dev.culvert.server.enrol.RenewalService;
import dev.culvert.server.runtime.EnrolmentTokens;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The connections of a runtime are spread over the event loops, whichever loops accepted them. */
@SuppressWarnings("NullAway.Init") // each test begins with listen
class LoopPlacementIT {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final Duration DAY = Duration.ofDays(1);
    private static final String[] UPGRADE = {"Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: culvert.v1"};
    /** A masked text frame with the text "loop" and the mask 0. */
    private static final byte[] QUESTION = {(byte) 0x81, (byte) 0x84, 0, 0, 0, 0, 'l', 'o', 'o', 'p'};

    static {
        EventLoopWatch.install();
    }

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final Telemetry telemetry = new Telemetry();
    private final List<Channel> tunnels = new CopyOnWriteArrayList<>();
    private final List<EventLoop> serving = new CopyOnWriteArrayList<>();
    private final List<TlsCaller> callers = new ArrayList<>();
    private final List<Socket> others = new ArrayList<>();
    private volatile boolean refusing;
    private RuntimeStore store;
    private EnrolmentService enrolment;
    private TlsMaterial identity;
    private EventLoops loops;
    private LoopPlacement placement;
    private TunnelListener listener;

    @BeforeEach
    void open() {
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));
        enrolment = new EnrolmentService(store, new CertificateIssuer(ca, DAY), clock);
        RegisteredRuntime runtime = await(
                new RuntimeRegistrar(store, new FakeTunnels(), new EnrolmentTokens(ca.certificate()),
                        "t.example", clock, gone -> {}).register(PROD, List.of()))
                .runtime();
        KeyPair keys = KeyPairs.generate();
        identity = new TlsMaterial(List.of(ca.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("acme", "prod", runtime.identity()), DAY)), keys.getPrivate());
    }

    @AfterEach
    void close() throws IOException {
        for (Socket other : others) {
            other.close();
        }
        callers.forEach(TlsCaller::close);
        listener.stop(Duration.ZERO).block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
        enrolment.close().block();
        store.close().block();
        telemetry.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void connectionsOfARuntimeUseDifferentLoops(int threads) throws IOException {
        listen(threads);
        for (int connections = 1; connections <= 4; connections++) {
            for (int i = 0; i < connections; i++) {
                callers.add(dial(UPGRADE));
                // others in between, so that every connection of the runtime is accepted on the same loop
                for (int other = 1; other < threads; other++) {
                    others.add(new Socket(InetAddress.getLoopbackAddress(), listener.address().port()));
                }
            }
            for (TlsCaller client : callers) {
                assertThat(client.readHead()).startsWith("HTTP/1.1 101 ");
                client.send(QUESTION);
                assertThat(client.read(2 + 4)).as("the answer on the new loop").endsWith("here");
            }

            assertThat(tunnels.stream().map(Channel::eventLoop).distinct())
                    .as("the loops of %d connections", connections)
                    .hasSize(Math.min(threads, connections));
            callers.forEach(TlsCaller::close);
            callers.clear();
            tunnels.clear();
            Awaitility.await().until(() -> placement.openingRuntimes() == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8})
    void aConnectionAvoidsTheLoopsOfLiveSessions(int threads) {
        listen(threads);
        serving.addAll(all(loops).subList(1, threads));

        upgraded(UPGRADE);

        assertThat(serving).doesNotContain(tunnels.getFirst().eventLoop());
    }

    @Test
    void aReplacementTakesThePlaceOfItsPredecessor() {
        listen(2);
        serving.addAll(all(loops));
        for (int number : new int[]{0, 1, 1, 0}) {
            upgraded(with("culvert-connection: " + number));

            assertThat(tunnels.getFirst().eventLoop()).isEqualTo(serving.get(number));
            LoopPlacement.opened(tunnels.removeFirst());
        }
    }

    @Test
    void aConnectionThatFailsAfterItsMoveIsClosed() {
        listen(2);
        refusing = true;
        serving.addAll(all(loops));
        for (int number = 0; number < 2; number++) {
            callers.add(dial(with("culvert-connection: " + number)));

            assertThat(callers.getLast().readAll()).startsWith("HTTP/1.1 101 ");
        }
        Awaitility.await().until(() -> placement.openingRuntimes() == 0);
    }

    private void upgraded(String... fields) {
        callers.add(dial(fields));
        assertThat(callers.getLast().readHead()).startsWith("HTTP/1.1 101 ");
        Awaitility.await().until(() -> tunnels.size() == 1);
    }

    private static List<EventLoop> all(EventLoops loops) {
        List<EventLoop> all = new ArrayList<>();
        loops.group().forEach(loop -> all.add((EventLoop) loop));
        return all;
    }

    /** A runtime's connections are numbered in the order of {@link #serving}. */
    private List<EventLoop> without(int replaced) {
        List<EventLoop> others = new ArrayList<>(serving);
        if (replaced >= 0) {
            others.remove(replaced);
        }
        return others;
    }

    private static String[] with(String field) {
        return Stream.concat(Stream.of(UPGRADE), Stream.of(field)).toArray(String[]::new);
    }

    private void listen(int threads) {
        loops = EventLoops.create(threads);
        placement = new LoopPlacement(loops.group(), (id, replaced) -> without(replaced));
        var shared = new TunnelHandshake.Shared(store, enrolment,
                new RenewalService(store, new CertificateIssuer(ca, DAY), clock),
                () -> List.of(ca.certificate()), false, host -> true,
                new SessionAdmission(10, 10, 10, new SplittableRandom(1)), placement,
                (ctx, let, host, left) -> {
                    if (refusing) {
                        throw new IllegalStateException("no session");
                    }
                    assertThat(ctx.channel().eventLoop().inEventLoop()).isTrue();
                    ctx.pipeline().addLast(new Answerer());
                    tunnels.add(ctx.channel());
                }, telemetry, clock);
        TlsMaterial own = ca.issueServer(List.of("t.example"), List.of(), DAY);
        listener = await(TunnelListener.start(HostPort.parse("127.0.0.1:0"),
                Entrance.Secure.with(TlsContexts.tunnel(own, List.of(ca.certificate()), List.of("http/1.1"))),
                shared, 100, loops));
    }

    private TlsCaller dial(String... fields) {
        return new TlsCaller(listener.address().port(), identity).head("GET /tunnel/v1", fields);
    }

    /** Answers a text frame, if its loop runs on the thread that reads. */
    private static final class Answerer extends SimpleChannelInboundHandler<WebSocketFrame> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame question) {
            boolean own = ctx.channel().eventLoop().inEventLoop() && ctx.executor().inEventLoop();
            ctx.writeAndFlush(new TextWebSocketFrame(own ? "here" : "lost"));
        }
    }
}
