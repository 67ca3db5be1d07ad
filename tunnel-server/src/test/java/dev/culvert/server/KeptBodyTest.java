package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.edge.caller.MemoryBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KeptBodyTest {
    private final HeldRequests held = new HeldRequests(MemoryBudget.ofProcess(1L << 30));
    private final KeptBody kept = new KeptBody(held, false);

    @Test
    void singleBytesMerge() {
        List<ByteBuf> parts = IntStream.range(0, 20_000)
                .mapToObj(i -> Unpooled.buffer(1).writeByte(i))
                .toList();

        parts.forEach(part -> {
            kept.add(part);
            part.release();
        });

        assertThat(parts.stream().filter(part -> part.refCnt() > 0)).hasSizeLessThan(5);
        kept.forget();
    }
}
