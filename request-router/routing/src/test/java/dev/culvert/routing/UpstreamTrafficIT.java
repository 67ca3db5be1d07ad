package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.UpstreamLimits;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Many exchanges of every kind at once, with an ordinary server: every byte arrives, nothing is left. */
class UpstreamTrafficIT {
    private static final int EXCHANGES = 600;
    private static final int AT_ONCE = 24;

    private final EventLoops loops = EventLoops.create(2);
    private final DisposableServer server = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes
                    .post("/echo", (request, response) -> response.send(request.receive().retain()))
                    .get("/bytes/{n}", UpstreamTrafficIT::bytes)
                    .get("/silent", (request, response) -> Mono.never()))
            .bindNow();

    @AfterEach
    void stop() {
        server.disposeNow();
        loops.dispose();
    }

    private static Flux<Void> bytes(HttpServerRequest request, HttpServerResponse response) {
        int bytes = Integer.parseInt(String.valueOf(request.param("n")));
        if (bytes % 2 == 0) {
            response.header("content-length", Integer.toString(bytes));
        }
        Flux<byte[]> body = Flux.range(0, (bytes + 9999) / 10_000)
                .map(i -> Asker.pattern(i * 10_000L, Math.min(10_000, bytes - i * 10_000)));
        return Flux.from(response.sendByteArray(body));
    }

    private SingleUpstream relay() {
        return SingleUpstream.create(URI.create("http://127.0.0.1:" + server.port()),
                new UpstreamLimits(32, 16, 8, 1000, Duration.ofSeconds(20), Duration.ofSeconds(20),
                        Duration.ofSeconds(20)));
    }

    @Test
    void everyByteArrivesOnEveryLoop() {
        traffic(loops.group(), 7);
    }

    @Test
    void everyByteArrivesWithJavasOwnSelector() {
        EventLoopGroup nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            traffic(nio, 11);
        } finally {
            nio.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    private void traffic(EventLoopGroup group, long seed) {
        Random random = new Random(seed);
        SingleUpstream relay = relay();
        try {
            List<Runnable> running = new ArrayList<>();
            for (int i = 0; i < EXCHANGES; i++) {
                running.add(exchange(new Asker(relay, group.next()), random));
                if (running.size() == AT_ONCE) {
                    running.forEach(Runnable::run);
                    running.clear();
                }
            }
            running.forEach(Runnable::run);
        } finally {
            relay.close();
        }
        Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
    }

    /** Starts an exchange of some kind; returns what ends and checks it. */
    private static Runnable exchange(Asker asker, Random random) {
        int bytes = 1 + random.nextInt(random.nextInt(4) == 0 ? 400_000 : 2_000);
        return switch (random.nextInt(5)) {
            case 0 -> download(asker.get("/bytes/" + bytes), bytes);
            case 1 -> {
                asker.stalled = true;
                Runnable check = download(asker.get("/bytes/" + bytes), bytes);
                yield () -> {
                    asker.resume();
                    check.run();
                };
            }
            case 2 ->
                echo(asker.open(Kind.HTTP, "POST", "/echo", false, "content-length", Integer.toString(bytes)),
                        bytes);
            case 3 -> echo(asker.open(Kind.HTTP, "POST", "/echo", false), bytes);
            default -> {
                asker.get(random.nextBoolean() ? "/silent" : "/bytes/" + bytes);
                yield asker::cancel;
            }
        };
    }

    private static Runnable download(Asker asker, int bytes) {
        return () -> {
            asker.awaitEnd();
            assertThat(asker.received).hasValue(bytes);
            assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(bytes));
        };
    }

    private static Runnable echo(Asker asker, int bytes) {
        asker.upload(bytes);
        return () -> {
            asker.awaitEnd();
            assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(bytes));
            asker.awaitConsumed(bytes);
        };
    }

    @Test
    void namesThatCallersInventLeaveNothing() {
        var config = new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of("*/*")),
                Map.of());
        try (Router router = Router.create(config)) {
            EventLoop loop = loops.group().next();
            for (int i = 0; i < 20; i++) {
                Asker asker = new Asker(router, loop).get("/webhooks/nowhere/source-" + i);

                assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
            }
            assertThat(router.upstreams().pools(loop)).isZero();
        }
    }
}
