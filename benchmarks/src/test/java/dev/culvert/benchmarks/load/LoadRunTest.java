package dev.culvert.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.http.net.EventLoops;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/** Every kind of load on the upstream that all targets have behind them. */
class LoadRunTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static EventLoops loops;
    private static Channel upstream;

    @BeforeAll
    static void start() {
        loops = EventLoops.create(1);
        upstream = UpstreamServer.start(loops);
    }

    @AfterAll
    static void stop() {
        upstream.close();
        loops.dispose();
    }

    @ParameterizedTest
    @CsvSource({"GET,/f,0,200", "GET,/bytes/300000,0,300000", "GET,/bytes/0,0,0",
            "UPLOAD,/upload,200000,200002",
            "WEBHOOK,/webhooks/argo/push/x,2048,2050", "WEBSOCKET,/echo,1000,2000",
            "WEBSOCKET,/echo,200000,400000"})
    void exchangesSucceedAndTheirBytesAreCounted(Kind kind, String path, int sent, long bytes)
            throws InterruptedException {
        LoadFigures figures = answered(plan(path, kind, sent, 4, 0));

        assertThat(figures.errors()).isEmpty();
        assertThat(figures.requests()).isPositive();
        assertThat(figures.latency().p50()).isPositive();
        assertThat(figures.bytes()).isBetween((figures.requests() - 4) * bytes,
                (figures.requests() + 4) * bytes);
    }

    @Test
    void eachEventOfAStreamIsCounted() throws InterruptedException {
        LoadFigures figures = answered(plan("/events/100", Kind.EVENTS, 0, 3, 0));

        assertThat(figures.errors()).isEmpty();
        // more than one of each caller; a busy machine sends fewer than the rate says
        assertThat((double) figures.requests()).isBetween(6.0, 400 * figures.seconds());
    }

    @Test
    void whatIsNotThereFails() throws InterruptedException {
        LoadFigures figures = LoadRun.run(plan("/absent", Kind.GET, 0, 1, 0));

        assertThat(figures.requests()).isZero();
        assertThat(figures.errors()).containsOnlyKeys("status 404");
    }

    @Test
    void aPortThatNobodyListensAtFailsWithoutAStorm() throws InterruptedException {
        LoadPlan there = plan("/f", Kind.GET, 0, 2, 0);
        LoadFigures figures = LoadRun
                .run(new LoadPlan(URI.create("http://127.0.0.1:1/f"), "", Kind.GET, false,
                        0, 2, 0, there.warmUp(), there.time()));

        assertThat(figures.failed()).isBetween(1L, 80L);
        assertThat(figures.errors()).containsKey("the connection was refused");
    }

    @Test
    void whatIsNoResponseFails() throws InterruptedException {
        LoadFigures figures = figuresOf("nonsense\r\n\r\n", Kind.GET);

        assertThat(figures.requests()).isZero();
        assertThat(figures.failed()).isPositive();
    }

    @Test
    void anEventStreamThatEndsFails() throws InterruptedException {
        LoadFigures figures = figuresOf("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", Kind.EVENTS);

        assertThat(figures.requests()).isZero();
        assertThat(figures.errors()).containsKey("the event stream ended");
    }

    @ParameterizedTest
    @CsvSource({"GET", "EVENTS", "WEBSOCKET", "STALLED"})
    void aCallerWithoutAnAnswerIsAFailure(Kind kind) throws InterruptedException {
        LoadFigures figures = figuresOf("", kind);

        assertThat(figures.requests()).isZero();
        assertThat(figures.errors()).containsExactly(Map.entry("no answer in the measured time", 4L));
    }

    /** The figures of a server that accepts, and answers all that it reads with a text, or not at all. */
    private static LoadFigures figuresOf(String answer, Kind kind) throws InterruptedException {
        Channel server = serving(() -> new Answering(answer));
        try {
            return LoadRun.run(
                    new LoadPlan(url(server), "", kind, false, kind == Kind.WEBSOCKET ? 100 : 0, 4, 0,
                            Duration.ofMillis(200), SHORT));
        } finally {
            server.close();
        }
    }

    private static Channel serving(Supplier<ChannelHandler> handlers) throws InterruptedException {
        return new ServerBootstrap().group(loops.group())
                .channel(loops.serverChannel())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(handlers.get());
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .sync()
                .channel();
    }

    private static URI url(Channel server) {
        return URI.create("http://127.0.0.1:" + UpstreamServer.port(server) + "/");
    }

    private static class Answering extends ChannelInboundHandlerAdapter {
        private final String answer;

        Answering(String answer) {
            this.answer = answer;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
            if (!answer.isEmpty()) {
                answer(ctx);
            }
        }

        void answer(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(Unpooled.copiedBuffer(answer, StandardCharsets.US_ASCII), ctx.voidPromise());
        }
    }

    /** Answers its 60th request late. */
    private static final class Pausing extends Answering {
        private int number;

        Pausing() {
            super("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx");
        }

        @Override
        void answer(ChannelHandlerContext ctx) {
            number++;
            if (number == 60) {
                ctx.executor().schedule(() -> super.answer(ctx), 400, TimeUnit.MILLISECONDS);
            } else {
                super.answer(ctx);
            }
        }
    }

    @Test
    void aStalledCallerReadsTheBeginningOnly() throws InterruptedException {
        LoadFigures figures = LoadRun.run(plan("/bytes/1073741824", Kind.STALLED, 0, 2, 0));

        assertThat(figures.requests()).isZero();
        assertThat(figures.errors()).isEmpty();
        assertThat(figures.bytes()).isLessThan(2 << 20);
    }

    @Test
    void anOpenLoopKeepsItsRate() throws InterruptedException {
        LoadFigures figures = LoadRun.run(plan("/f", Kind.GET, 0, 8, 500));

        assertThat(figures.errors()).isEmpty();
        assertThat((double) figures.requests()).isCloseTo(500 * figures.seconds(), within(10.0));
    }

    /** The caller of a closed loop would see one slow exchange. */
    @Test
    void aPauseOfTheTargetShowsInAllThatArrivedMeanwhile() throws InterruptedException {
        Channel server = serving(Pausing::new);
        try {
            LoadFigures figures = LoadRun.run(new LoadPlan(url(server), "", Kind.GET, false, 0, 1, 100,
                    Duration.ofMillis(200), Duration.ofSeconds(1)));

            assertThat(figures.errors()).isEmpty();
            assertThat((double) figures.requests()).isCloseTo(100 * figures.seconds(), within(10.0));
            assertThat(figures.latency().max()).isGreaterThan(390_000);
            assertThat(figures.latency().p90()).isGreaterThan(200_000);
        } finally {
            server.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"GET,0", "UPLOAD,70000"})
    void callersOfHttp2ShareConnections(Kind kind, int bytes) throws InterruptedException {
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .protocol(HttpProtocol.H2C)
                .handle((request, response) -> request.receive()
                        .then(response.sendString(Mono.just("hello")).then()))
                .bindNow();
        try {
            LoadFigures figures = answered(
                    new LoadPlan(URI.create("http://127.0.0.1:" + server.port() + "/"),
                            "", kind, true, bytes, 150, 0, Duration.ofMillis(100), Duration.ofSeconds(4)));

            assertThat(figures.errors()).isEmpty();
            assertThat(figures.requests()).isPositive();
        } finally {
            server.disposeNow();
        }
    }

    /** Runs a plan, and again for longer while callers got no answer in its time: the machine may be busy. */
    private static LoadFigures answered(LoadPlan plan) throws InterruptedException {
        LoadPlan longer = plan;
        LoadFigures figures = LoadRun.run(longer);
        for (int i = 0; i < 3 && figures.errors().containsKey("no answer in the measured time"); i++) {
            longer = new LoadPlan(plan.url(), plan.host(), plan.kind(), plan.http2(), plan.bytes(),
                    plan.callers(),
                    plan.rate(), plan.warmUp(), longer.time().multipliedBy(3));
            figures = LoadRun.run(longer);
        }
        return figures;
    }

    private static LoadPlan plan(String path, Kind kind, int bytes, int callers, double rate) {
        return new LoadPlan(URI.create("http://127.0.0.1:" + UpstreamServer.port(upstream) + path), "", kind,
                false, bytes, callers, rate, Duration.ofMillis(50), SHORT);
    }
}
