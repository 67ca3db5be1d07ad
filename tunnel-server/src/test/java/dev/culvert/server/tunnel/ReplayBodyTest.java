package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.quota.MemoryBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReplayBodyTest {
    private final HeldRequests held = new HeldRequests(MemoryBudget.ofProcess(1L << 30));
    private final ReplayBody replay = new ReplayBody(held, false);

    @Test
    void singleBytesMerge() {
        List<ByteBuf> parts = IntStream.range(0, 20_000)
                .mapToObj(i -> Unpooled.buffer(1).writeByte(i))
                .toList();

        parts.forEach(part -> {
            replay.add(part);
            part.release();
        });

        assertThat(parts.stream().filter(part -> part.refCnt() > 0)).hasSizeLessThan(5);
        replay.forget();
    }

    @Test
    void partsAndTrailersAreChargedAtWhatTheyCost() {
        ByteBuf part = Unpooled.buffer().writeZero(BodyQueue.SMALL);
        for (int i = 0; i < 3; i++) {
            replay.add(part);
        }
        part.release();
        assertThat(held.keptBytes()).isEqualTo(3L * (BodyQueue.SMALL + BodyQueue.PART_BYTES));

        replay.end(new DefaultHttp2Headers().add("a", "b"));

        assertThat(held.keptBytes()).isEqualTo(3L * (BodyQueue.SMALL + BodyQueue.PART_BYTES) + 34);
        replay.forget();
        assertThat(held.keptBytes()).isZero();
    }

    @Test
    void trailersBeyondTheBoundAreNotKept() {
        replay.end(new DefaultHttp2Headers().add("a", "b".repeat(ReplayBody.MAX_COST)));

        assertThat(replay.isComplete()).isFalse();
        assertThat(held.keptBytes()).isZero();
    }
}
