package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PassShareTest {
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
            IntStream.range(0, all).forEach(each -> PassShare.run(loop, () -> ran.add(each)));
            return loop.submit(() -> ran.size());
        }).get().get();

        assertThat(before).isEqualTo(PassShare.TASKS);
        while (loop.submit(ran::size).get() < all) {
            Thread.onSpinWait();
        }
        assertThat(ran).isEqualTo(IntStream.range(0, all).boxed().toList());
    }

    @Test
    void aTaskThatFailsOrAddsAnotherStopsNobody() throws Exception {
        loop.submit(() -> {
            PassShare.run(loop, () -> {
                PassShare.run(loop, () -> ran.add(2));
                throw new IllegalStateException("as intended");
            });
            PassShare.run(loop, () -> ran.add(1));
        }).get();
        while (loop.submit(ran::size).get() < 2) {
            Thread.onSpinWait();
        }

        assertThat(ran).containsExactly(1, 2);
    }
}
