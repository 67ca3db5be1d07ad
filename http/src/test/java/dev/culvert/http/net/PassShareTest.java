package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PassShareTest {
    private static final SourceAddress NOISY = new SourceAddress(1, false);
    private static final SourceAddress QUIET = new SourceAddress(2, false);

    private final EventLoop loop = new DefaultEventLoop();
    private final List<Integer> ran = new ArrayList<>();

    @AfterEach
    void stop() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void manyTasksLeaveOthersTheirTurnAndKeepTheirOrder() throws Exception {
        int all = 3 * PassShare.TASKS;
        int before = loop.submit(() -> {
            IntStream.range(0, all).forEach(each -> PassShare.run(loop, NOISY, () -> ran.add(each)));
            return loop.submit(() -> ran.size());
        }).get().get();

        assertThat(before).isBetween(1, PassShare.TASKS); // fewer where the machine takes a millisecond
        awaitAll(all);
        assertThat(ran).isEqualTo(IntStream.range(0, all).boxed().toList());
    }

    @Test
    void aTaskThatFailsOrAddsAnotherStopsNobody() throws Exception {
        loop.submit(() -> {
            PassShare.run(loop, NOISY, () -> {
                PassShare.run(loop, NOISY, () -> ran.add(2));
                throw new IllegalStateException("as intended");
            });
            PassShare.run(loop, NOISY, () -> ran.add(1));
        }).get();
        awaitAll(2);

        assertThat(ran).containsExactly(1, 2);
    }

    @Test
    void aTaskThatTakesThePassesTimeIsItsLast() throws Exception {
        int before = loop.submit(() -> {
            for (int i = 0; i < 3; i++) {
                PassShare.run(loop, NOISY, () -> {
                    long began = System.nanoTime();
                    while (System.nanoTime() - began < PassShare.TIME_NANOS) {
                        Thread.onSpinWait();
                    }
                    ran.add(0);
                });
            }
            return loop.submit(() -> ran.size());
        }).get().get();

        assertThat(before).isOne();
        awaitAll(3);
    }

    @Test
    void sourcesTakeTurns() throws Exception {
        loop.submit(() -> {
            for (int i = 0; i < 4; i++) {
                int number = i;
                PassShare.run(loop, NOISY, () -> ran.add(number));
            }
            PassShare.run(loop, QUIET, () -> ran.add(9));
        }).get();
        awaitAll(5);

        assertThat(ran).containsExactly(0, 9, 1, 2, 3);
    }

    private void awaitAll(int count) {
        await().until(() -> loop.submit(ran::size).get() >= count);
    }
}
