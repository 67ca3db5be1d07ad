package dev.culvert.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.EventLoops;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopCrossingTest {
    private static final Problem GONE = Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "gone");
    private static final Problem LOST = Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost");

    private final EventLoops here = EventLoops.create(1);
    private final EventLoops there = EventLoops.create(1);
    private final EventLoop asking = here.group().next();
    private final EventLoop answering = there.group().next();
    private final Asker asker = new Asker();
    private final RuntimeEndpoint endpoint = new RuntimeEndpoint();
    private final RequestSink request = open(endpoint);

    private RequestSink open(Relay relay) {
        Http2Headers fields = new DefaultHttp2Headers(false, 4).method("GET");
        RelayRequest head = new RelayRequest(RelayRequest.Kind.HTTP, fields, false, asking);
        return Objects.requireNonNull(
                asking.submit(() -> LoopCrossing.open(relay, answering, head, asker))
                        .syncUninterruptibly()
                        .getNow());
    }

    @AfterEach
    void stop() {
        end(here);
        end(there);
    }

    private static void end(EventLoops loops) {
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(5)).block();
    }

    /** Waits for what was handed over, there and back. */
    private void settle() {
        for (EventLoop loop : List.of(asking, answering, asking)) {
            if (!loop.isShutdown()) {
                loop.submit(() -> {}).syncUninterruptibly();
            }
        }
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    @Test
    void anAnswererThatBreaksFailsItsAskerAndLeaksNothing() {
        RequestSink broken = open((head, response) -> {
            throw new IllegalStateException("broken on purpose");
        });
        ByteBuf body = bytes("never taken");

        asking.execute(() -> {
            broken.data(body);
            broken.end(null);
            broken.consumed(1);
        });
        settle();

        assertThat(body.refCnt()).isZero();
        assertThat(asker.calls).containsExactly("fail the exchange could not be opened");
    }

    @Test
    void theAnswererRunsOnItsOwnLoopAndIsToldSo() {
        settle();

        assertThat(endpoint.loops).containsOnly(answering);
        assertThat(Objects.requireNonNull(endpoint.request).loop()).isEqualTo(answering);
    }

    @Test
    void theAskerIsCalledBackOnItsOwnLoop() {
        answering.execute(() -> {
            endpoint.response().informational(new DefaultHttp2Headers());
            endpoint.response().head(new DefaultHttp2Headers(), false);
            endpoint.response().data(bytes("a"));
            endpoint.response().consumed(1);
            endpoint.response().end(null);
        });
        settle();

        assertThat(asker.calls).containsExactly("informational", "head", "data a", "consumed 1", "end");
        assertThat(asker.loops).containsOnly(asking);
    }

    @Test
    void callsKeepTheirOrder() {
        asking.execute(() -> {
            IntStream.range(0, 1000).forEach(i -> request.data(bytes(Integer.toString(i))));
            request.consumed(5);
            request.end(null);
        });
        settle();

        assertThat(endpoint.calls).hasSize(1003)
                .startsWith("open", "data 0", "data 1")
                .endsWith("data 999", "consumed 5", "end");
        assertThat(endpoint.calls.subList(1, 1001))
                .isEqualTo(IntStream.range(0, 1000).mapToObj(i -> "data " + i).toList());
    }

    @Test
    void whatIsSentBeforeTheAnswererHasOpenedArrives() {
        CountDownLatch gate = new CountDownLatch(1);
        answering.execute(() -> awaitUnchecked(gate));
        RuntimeEndpoint late = new RuntimeEndpoint();
        RequestSink early = open(late);

        asking.execute(() -> {
            early.data(bytes("a"));
            early.end(null);
        });
        gate.countDown();
        settle();

        assertThat(late.calls).containsExactly("open", "data a", "end");
    }

    private static final LongAdder SPINS = new LongAdder();

    /** Spins: an event loop that parks is an error where other tests of this JVM watch for that. */
    private static void awaitUnchecked(CountDownLatch gate) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (gate.getCount() > 0 && System.nanoTime() < end) {
            SPINS.increment(); // Thread.onSpinWait counts as blocking
        }
        assertThat(gate.getCount()).isZero();
    }

    @Test
    void nothingIsToldAfterACancelThatCrossesTheAnswer() {
        ByteBuf late = bytes("late");
        CountDownLatch gate = new CountDownLatch(1);
        asking.execute(() -> {
            awaitUnchecked(gate);
            request.cancel(GONE);
        });
        answering.submit(() -> {
            endpoint.response().head(new DefaultHttp2Headers(), false);
            endpoint.response().data(late);
            endpoint.response().consumed(3);
            endpoint.response().fail(LOST);
        }).syncUninterruptibly();
        gate.countDown();
        settle();

        assertThat(asker.calls).isEmpty();
        assertThat(late.refCnt()).isZero();
        assertThat(endpoint.calls).containsExactly("open", "cancel");
    }

    @Test
    void aCancelBeforeTheAnswererHasOpenedReachesIt() {
        CountDownLatch gate = new CountDownLatch(1);
        answering.execute(() -> awaitUnchecked(gate));
        RuntimeEndpoint late = new RuntimeEndpoint();
        RequestSink early = open(late);

        asking.execute(() -> early.cancel(GONE));
        gate.countDown();
        settle();

        assertThat(late.calls).containsExactly("open", "cancel");
    }

    @Test
    void anExchangeThatFailsAtOnceFailsOnTheAskersLoop() {
        open((there, response) -> {
            response.fail(LOST);
            return new RuntimeEndpoint();
        });
        settle();

        assertThat(asker.calls).containsExactly("fail lost");
        assertThat(asker.loops).containsOnly(asking);
    }

    @Test
    void buffersAreReleasedWhenTheAnswerersLoopHasEnded() {
        settle();
        end(there);
        ByteBuf body = bytes("late");

        asking.submit(() -> {
            request.data(body);
            request.consumed(1);
            request.end(null);
            request.cancel(GONE);
        }).syncUninterruptibly();

        assertThat(body.refCnt()).isZero();
    }

    @Test
    void anExchangeOpenedOnALoopThatHasEndedFails() {
        settle();
        end(there);
        asker.calls.clear();

        RequestSink dead = open(new RuntimeEndpoint());
        ByteBuf body = bytes("late");
        asking.submit(() -> dead.data(body)).syncUninterruptibly();
        settle();

        assertThat(asker.calls).containsExactly("fail the tunnel's thread has ended");
        assertThat(body.refCnt()).isZero();
    }

    @Test
    void buffersAreReleasedWhenTheAskersLoopHasEnded() {
        settle();
        end(here);
        ByteBuf body = bytes("late");

        answering.submit(() -> {
            endpoint.response().head(new DefaultHttp2Headers(), false);
            endpoint.response().data(body);
            endpoint.response().end(null);
        }).syncUninterruptibly();

        assertThat(body.refCnt()).isZero();
    }

    /** Writes down what it is told, and where. */
    private final class Asker implements ResponseSink {
        final List<String> calls = new CopyOnWriteArrayList<>();
        final List<EventLoop> loops = new CopyOnWriteArrayList<>();

        private void note(String call) {
            calls.add(call);
            loops.add(asking.inEventLoop() ? asking : answering);
        }

        @Override
        public void informational(Http2Headers head) {
            note("informational");
        }

        @Override
        public void head(Http2Headers head, boolean ended) {
            note("head");
        }

        @Override
        public void data(ByteBuf body) {
            note("data " + body.toString(StandardCharsets.US_ASCII));
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            note("end");
        }

        @Override
        public void fail(Problem problem) {
            note("fail " + problem.detail());
        }

        @Override
        public void consumed(int bytes) {
            note("consumed " + bytes);
        }
    }

    /** Writes down what it is asked, and where. */
    private final class RuntimeEndpoint implements Relay, RequestSink {
        final List<String> calls = new CopyOnWriteArrayList<>();
        final List<EventLoop> loops = new CopyOnWriteArrayList<>();
        volatile @Nullable RelayRequest request;
        private volatile @Nullable ResponseSink response;

        ResponseSink response() {
            return Objects.requireNonNull(response);
        }

        private void note(String call) {
            calls.add(call);
            loops.add(answering.inEventLoop() ? answering : asking);
        }

        @Override
        public RequestSink open(RelayRequest request, ResponseSink response) {
            this.request = request;
            this.response = response;
            note("open");
            return this;
        }

        @Override
        public void data(ByteBuf body) {
            note("data " + body.toString(StandardCharsets.US_ASCII));
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            note("end");
        }

        @Override
        public void cancel(Problem reason) {
            note("cancel");
        }

        @Override
        public void consumed(int bytes) {
            note("consumed " + bytes);
        }
    }
}
