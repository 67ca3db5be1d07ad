package dev.culvert.relay.inbound.http1;

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

class PipelineTurnsTest {
    private static final SourceAddress NOISY = new SourceAddress(1, false);
    private static final SourceAddress QUIET = new SourceAddress(2, false);

    private final EventLoop loop = new DefaultEventLoop();
    private final PipelineTurns turns = loop.submit(() -> PipelineTurns.of(loop))
            .syncUninterruptibly()
            .getNow();
    private final List<Integer> begun = new ArrayList<>();
    private final List<PipelineTurns.Turn> asked = new ArrayList<>();

    @AfterEach
    void stop() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void ask(SourceAddress source, int count) throws Exception {
        loop.submit(() -> IntStream.range(0, count).forEach(any -> {
            int number = asked.size();
            asked.add(turns.ask(source, () -> begun.add(number)));
        })).get();
    }

    private void end(int first, int last) throws Exception {
        loop.submit(() -> asked.subList(first, last + 1).forEach(PipelineTurns.Turn::end)).get();
    }

    private int size() throws Exception {
        return loop.submit(turns::size).get();
    }

    @Test
    void whoHasAllItsTurnsWaitsForOneToEnd() throws Exception {
        ask(NOISY, PipelineTurns.MAX + 2);
        awaitBegun(PipelineTurns.MAX);

        end(0, 0);
        awaitBegun(PipelineTurns.MAX + 1);
        assertThat(begun).isSorted();
    }

    @Test
    void anotherSourceHasTurnsOfItsOwn() throws Exception {
        ask(NOISY, 100);
        ask(QUIET, 1);
        awaitBegun(PipelineTurns.MAX + 1);

        assertThat(begun).contains(100);
    }

    @Test
    void aWaitThatEndsLeavesNothingBehind() throws Exception {
        ask(NOISY, 10_000);
        awaitBegun(PipelineTurns.MAX);

        end(PipelineTurns.MAX, 9_999);
        assertThat(size()).isEqualTo(PipelineTurns.MAX);
        end(0, PipelineTurns.MAX - 1);
        end(0, 0);
        assertThat(size()).isZero();
        awaitBegun(PipelineTurns.MAX);
    }

    @Test
    void aTurnThatEndedBeforeItBeganDoesNotBegin() throws Exception {
        loop.submit(() -> turns.ask(NOISY, () -> begun.add(0)).end()).get();
        ask(NOISY, 1);
        awaitBegun(1);

        assertThat(size()).isOne();
    }

    @Test
    void aTurnThatLastsGivesWayToThoseThatWait() throws Exception {
        ask(NOISY, PipelineTurns.MAX + 1);
        awaitBegun(PipelineTurns.MAX);

        await().until(() -> loop.submit(begun::size).get() > PipelineTurns.MAX);
        end(0, PipelineTurns.MAX);
        assertThat(size()).isZero();
    }

    private void awaitBegun(int count) throws Exception {
        await().until(() -> loop.submit(begun::size).get() >= count);
        // what is due runs in the next pass
        loop.schedule(() -> {}, 5, TimeUnit.MILLISECONDS).get();
        assertThat(begun).hasSize(count);
    }
}
