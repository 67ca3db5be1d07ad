package dev.culvert.relay.inbound.http1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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

    @AfterEach
    void stop() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void whoHasAllItsTurnsWaitsForOneToEnd() throws Exception {
        loop.submit(() -> IntStream.rangeClosed(1, PipelineTurns.MOST + 2)
                .forEach(i -> turns.ask(NOISY, () -> begun.add(i)))).get();
        awaitBegun(PipelineTurns.MOST);

        loop.submit(() -> turns.over(NOISY)).get();
        awaitBegun(PipelineTurns.MOST + 1);
        assertThat(begun).isSorted();
    }

    @Test
    void anotherSourceHasTurnsOfItsOwn() throws Exception {
        loop.submit(() -> {
            IntStream.range(0, 100).forEach(i -> turns.ask(NOISY, () -> begun.add(0)));
            turns.ask(QUIET, () -> begun.add(1));
        }).get();
        awaitBegun(PipelineTurns.MOST + 1);

        assertThat(begun.get(1)).isOne();
    }

    @Test
    void moreTurnsThanWereTakenCannotEnd() throws Exception {
        loop.submit(() -> {
            turns.ask(NOISY, () -> begun.add(0));
            turns.over(NOISY);
            assertThatThrownBy(() -> turns.over(NOISY)).isInstanceOf(IllegalStateException.class);
        }).get();
        awaitBegun(1);
    }

    private void awaitBegun(int count) throws Exception {
        await().until(() -> loop.submit(begun::size).get() >= count);
        // what is due runs in the next pass
        loop.schedule(() -> {}, 5, TimeUnit.MILLISECONDS).get();
        assertThat(begun).hasSize(count);
    }
}
