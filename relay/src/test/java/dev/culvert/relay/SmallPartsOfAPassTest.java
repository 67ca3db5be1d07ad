package dev.culvert.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.body.BodyQueue;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** What is joined, and until when. */
class SmallPartsOfAPassTest {
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<String> passed = new ArrayList<>();
    private final SmallParts parts = new SmallParts(new DefaultEventLoop() {
        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }
    }, part -> {
        passed.add(part.toString(StandardCharsets.US_ASCII));
        part.release();
    });

    private void data(String text, boolean mayWait) {
        parts.data(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII), mayWait);
    }

    private void endOfPass() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    @Test
    void aPartWithNothingBeforeItPassesAtOnce() {
        data("a", false);

        assertThat(passed).containsExactly("a");
        assertThat(tasks).isEmpty();
    }

    @Test
    void partsBehindOthersAreJoinedUntilThePassEnds() {
        data("a", false);
        data("b", true);
        data("c", true);
        assertThat(passed).containsExactly("a");
        assertThat(tasks).hasSize(1);

        endOfPass();
        assertThat(passed).containsExactly("a", "bc");
        data("d", false);
        assertThat(passed).containsExactly("a", "bc", "d");
    }

    @Test
    void orderIsKept() {
        String large = "x".repeat(BodyQueue.SMALL);
        data("a", true);
        data("b", false);
        data(large, true);
        data("c", true);
        parts.flush();

        assertThat(passed).containsExactly("ab", large, "c");
        endOfPass();
        assertThat(passed).hasSize(3);
    }

    @Test
    void noMoreThanOneBufferWaits() {
        String part = "y".repeat(1_000);
        for (int i = 0; i < 17; i++) {
            data(part, true);
        }

        assertThat(passed).containsExactly(part.repeat(16));
        parts.close();
    }

    @Test
    void whatWaitsAtTheEndIsReleased() {
        ByteBuf last = Unpooled.copiedBuffer("b", StandardCharsets.US_ASCII);
        data("a", true);
        parts.close();
        parts.data(last, false);
        endOfPass();

        assertThat(passed).isEmpty();
        assertThat(last.refCnt()).isZero();
    }
}
