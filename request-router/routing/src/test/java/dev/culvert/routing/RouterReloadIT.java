package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.RawUpstream.Peer;
import dev.culvert.routing.RoutingConfig.Policy;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.EventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Other routes, policy and addresses while exchanges run. */
class RouterReloadIT {
    private static final int RELOADS = 100;

    private final EventLoops loops = EventLoops.create(2);
    private final RawUpstream upstream = new RawUpstream();
    private final List<String> changes = new ArrayList<>();
    private final RouterAudit audit = new RouterAudit() {
        @Override
        public void refused(java.net.@Nullable InetAddress caller, Http2Headers fields, Problem problem) {
            changes.add("refused " + fields.path() + " " + problem.cause().word());
        }

        @Override
        public void changed(String what, String by, String detail) {
            changes.add(what + " by " + by);
        }
    };

    @AfterEach
    void end() {
        upstream.close();
        loops.dispose();
    }

    private static RoutingConfig config(String path, int port, String... webhooks) {
        return new RoutingConfig(List.of(RouteConfig.of(path, "http://x:1")),
                Policy.allowing(List.of(webhooks)), Map.of("x:1", new HostPort("127.0.0.1", port)));
    }

    @Test
    void aHundredReloadsUnderLoadFailNoRequestAndNoUpgrade() throws Exception {
        DisposableServer one = server("one");
        DisposableServer two = server("two");
        int[] ports = {port(one), port(two)};
        var uppermost = new RoutingConfig(List.of(RouteConfig.of("/ws/", upstream.uri().toString()),
                RouteConfig.of("/x/", "http://x:1")), Policy.refusing(),
                Map.of("x:1", new HostPort("127.0.0.1", ports[0])));
        Router router = Router.create(uppermost);
        try {
            Asker socket = new Asker(router, loops.group().next()).open(Kind.UPGRADE, "GET", "/ws", false,
                    "upgrade", "websocket");
            Peer peer = upstream.accept();
            peer.readHead();
            peer.write(RawUpstream.head("HTTP/1.1 101 Switching Protocols", "connection: upgrade",
                    "upgrade: websocket"));
            socket.awaitHead();

            List<Load> load = new ArrayList<>();
            for (EventExecutor loop : loops.group()) {
                for (int i = 0; i < 8; i++) {
                    load.add(new Load(router, (EventLoop) loop));
                }
            }
            load.forEach(Load::start);
            for (int i = 0; i < RELOADS; i++) {
                int done = Load.DONE.get();
                router.replace(config(i % 2 == 0 ? "/x/y/" : "/x/", ports[(i + 1) % 2]), "test");
                while (Load.DONE.get() < done + 20 && Load.FAILED.isEmpty()) {
                    Thread.onSpinWait();
                }
            }
            for (Load each : load) {
                each.stop();
            }

            assertThat(Load.FAILED).isEmpty();
            assertThat(Load.DONE.get()).isGreaterThan(RELOADS * 20);
            socket.send("ping");
            assertThat(peer.read(4)).isEqualTo("ping");
            peer.write("pong");
            socket.awaitBody("pong");
            socket.cancel();
            peer.close();
        } finally {
            router.close();
            Leaks.assertNone(router::bufferedBytes, router::openConnections);
            one.disposeNow();
            two.disposeNow();
        }
    }

    @Test
    void connectionsToWhereANameLedBeforeAreNotUsedAgain() {
        try (Router router = Router.create(config("/x/", upstream.port()));
                RawUpstream other = new RawUpstream()) {
            Asker running = new Asker(router, loops.group().next()).get("/x");
            Peer peer = upstream.accept();
            peer.readHead();

            router.replace(config("/x/", other.port()), "test");
            peer.write(RawUpstream.head("HTTP/1.1 200 OK", "content-length: 2") + "ok");
            running.awaitEnd();
            awaitEnd(peer);
            Asker next = new Asker(router, loops.group().next()).get("/x");
            Loopback.answer(other.accept());

            next.awaitEnd();
        }
    }

    @Test
    void changesAndRefusalsAreTold() {
        try (Router router = Router.create(config("/webhooks/{namespace}/{eventSource}/", upstream.port()),
                UpstreamLimits.defaults(), audit)) {
            router.replace(config("/webhooks/{namespace}/{eventSource}/", upstream.port()), "nothing new");
            router.replace(config("/webhooks/{namespace}/{eventSource}/", upstream.port(), "ci/*"), "a");
            router.replace(config("/other/{namespace}/{eventSource}/", upstream.port(), "ci/*"), "b");
            Asker asker = new Asker(router, loops.group().next()).get("/other/argo/push");

            assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.NOT_ALLOWED);
            assertThat(changes).containsExactly("policy by a", "routes by b",
                    "refused /other/argo/push not-allowed");
        }
    }

    @Test
    void whatCanNotBeATableChangesNothing() {
        try (Router router = Router.create(config("/x/", upstream.port()))) {
            RoutingConfig before = router.config();

            assertThatThrownBy(() -> router.replace(
                    new RoutingConfig(
                            List.of(RouteConfig.of("/x/", "http://a"), RouteConfig.of("/x/", "http://b")),
                            Policy.refusing(), Map.of()),
                    "test")).isInstanceOf(ConfigException.class);

            assertThat(router.config()).isSameAs(before);
        }
    }

    private static DisposableServer server(String name) {
        return HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.sendString(Mono.just(name)))
                .bindNow();
    }

    private static void awaitEnd(Peer peer) {
        int next = peer.read();
        while (next >= 0) {
            next = peer.read();
        }
    }

    private static int port(DisposableServer server) {
        return ((InetSocketAddress) server.address()).getPort();
    }

    /** Asks again and again, on one loop. */
    private static final class Load implements ResponseSink {
        static final AtomicInteger DONE = new AtomicInteger();
        static final Queue<String> FAILED = new ConcurrentLinkedQueue<>();

        private final Router router;
        private final EventLoop loop;
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile boolean stopping;
        private @Nullable RequestSink sink;

        Load(Router router, EventLoop loop) {
            this.router = router;
            this.loop = loop;
        }

        void start() {
            loop.execute(this::ask);
        }

        void stop() throws InterruptedException {
            stopping = true;
            assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
        }

        private void ask() {
            if (stopping) {
                ended.countDown();
                return;
            }
            Http2Headers head = new DefaultHttp2Headers().method("GET")
                    .scheme("https")
                    .authority("h")
                    .path("/x/y");
            sink = router.open(new RelayRequest(Kind.HTTP, head, true, loop), this);
        }

        @Override
        public void informational(Http2Headers head) {}

        @Override
        public void head(Http2Headers head, boolean ended) {
            if (!"200".contentEquals(head.status())) {
                FAILED.add("status " + head.status());
            }
        }

        @Override
        public void data(ByteBuf body) {
            int bytes = body.readableBytes();
            body.release();
            RequestSink to = sink;
            if (to != null) {
                to.consumed(bytes);
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            DONE.incrementAndGet();
            loop.execute(this::ask);
        }

        @Override
        public void fail(Problem problem) {
            FAILED.add(problem.toString());
            ended.countDown();
        }

        @Override
        public void consumed(int bytes) {}
    }
}
