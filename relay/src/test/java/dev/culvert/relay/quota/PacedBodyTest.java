package dev.culvert.relay.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PacedBodyTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final EventLoop loop = new DefaultEventLoop();

    @AfterEach
    void stop() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void piecesLeaveAsFarApartAsTheirBytesTake() {
        var pace = new BytePace(0);

        long first = pace.next(1000, 1000, 0);
        long second = pace.next(500, 1000, 0);
        long third = pace.next(1000, 1000, 0);

        assertThat(second - first).isEqualTo(SECOND / 2);
        assertThat(third - second).isEqualTo(SECOND);
    }

    @Test
    void aPauseSavesUpNoMoreThanAMoment() {
        var pace = new BytePace(0);

        assertThat(pace.next(1000, 1000, 100 * SECOND)).isBetween(SECOND * 9 / 10, SECOND);
    }

    @Test
    void overManyPiecesTheRateIsExact() {
        var pace = new BytePace(0);
        long now = 0;
        long bytes = 0;
        while (now < 10 * SECOND) {
            now += Math.max(0, pace.next(16 << 10, 1 << 20, now));
            bytes += 16 << 10;
        }

        assertThat(bytes).isBetween(10L << 20, (10L << 20) + (1 << 20) / 8);
    }

    @Test
    void aStreamThatHasMoreToSendGetsNoMoreThanAnother() throws Exception {
        var pace = new BytePace(System.nanoTime());
        var left = new AtomicLong();
        var right = new AtomicLong();
        var done = new CountDownLatch(1);
        var greedy = new PacedBody(loop, pace, () -> 1 << 20, body -> count(body, left));
        var modest = new PacedBody(loop, pace, () -> 1 << 20, body -> count(body, right));

        loop.execute(() -> {
            for (int i = 0; i < 8; i++) {
                greedy.data(Unpooled.wrappedBuffer(new byte[64 << 10]));
            }
            modest.data(Unpooled.wrappedBuffer(new byte[128 << 10]));
            modest.end(done::countDown);
        });
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();

        assertThat(right).hasValue(128 << 10);
        assertThat(left.get()).isBetween(64L << 10, 256L << 10);
        loop.submit(greedy::close).sync();
    }

    private static void count(ByteBuf body, AtomicLong bytes) {
        bytes.addAndGet(body.readableBytes());
        body.release();
    }

    @Test
    void orderIsKeptAndTheEndComesLast() throws Exception {
        List<String> seen = new ArrayList<>();
        var done = new CountDownLatch(1);
        var body = new PacedBody(loop, new BytePace(System.nanoTime()), () -> 200_000, part -> {
            seen.add(Integer.toString(part.readableBytes()));
            part.release();
        });
        long began = System.nanoTime();

        loop.execute(() -> {
            body.data(Unpooled.wrappedBuffer(new byte[40_000]));
            body.data(Unpooled.wrappedBuffer(new byte[7]));
            body.end(() -> {
                seen.add("end");
                done.countDown();
            });
        });
        assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();

        assertThat(seen).containsExactly("16384", "16384", "7232", "7", "end");
        assertThat(System.nanoTime() - began).isGreaterThan(Duration.ofMillis(140).toNanos());
    }

    @Test
    void whatWaitsIsReleasedWhenTheExchangeEnds() throws Exception {
        ByteBuf waiting = Unpooled.wrappedBuffer(new byte[100_000]);
        var body = new PacedBody(loop, new BytePace(System.nanoTime()), () -> 1024, ByteBuf::release);

        loop.submit(() -> {
            body.data(waiting);
            body.close();
        }).sync();

        assertThat(waiting.refCnt()).isZero();
    }

    @Test
    void withoutALimitNothingWaits() throws Exception {
        var bytes = new AtomicLong();
        var body = new PacedBody(loop, new BytePace(System.nanoTime()), () -> 0, part -> count(part, bytes));

        loop.submit(() -> body.data(Unpooled.wrappedBuffer(new byte[1 << 20]))).sync();

        assertThat(bytes).hasValue(1 << 20);
    }
}
