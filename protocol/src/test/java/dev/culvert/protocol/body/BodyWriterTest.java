package dev.culvert.protocol.body;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BodyWriterTest {
    private final List<ByteBuf> written = new ArrayList<>();
    private final BodyWriter writer = new BodyWriter(written::add);

    @AfterEach
    void close() {
        writer.close();
        written.forEach(ByteBuf::release);
        assertThat(written).allSatisfy(part -> assertThat(part.refCnt()).isZero());
    }

    private void send(String text) {
        writer.data(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    private List<String> texts() {
        return written.stream().map(part -> part.toString(StandardCharsets.US_ASCII)).toList();
    }

    @Test
    void aPartWithNothingBeforeItPassesAtOnce() {
        send("a");
        writer.taken();
        send("b");

        assertThat(texts()).containsExactly("a", "b");
    }

    @Test
    void smallPartsBehindASocketThatTakesNothingMerge() {
        for (int i = 0; i < 100_000; i++) {
            send("a");
        }

        assertThat(written).hasSizeLessThan(10);
        assertThat(writer.waitingBytes()).isLessThanOrEqualTo(BodyQueue.MERGED_BYTES);
    }

    @Test
    void theRestIsWrittenWhenTheSocketHasTakenAll() {
        send("a");
        send("b");
        send("c");
        assertThat(texts()).containsExactly("a");

        writer.taken();

        assertThat(texts()).containsExactly("a", "bc");
        assertThat(writer.waitingBytes()).isZero();
    }

    @Test
    void largePartsPassBehindTheSmallOnes() {
        send("a");
        send("b");
        send("c".repeat(BodyQueue.SMALL));

        assertThat(texts()).containsExactly("a", "b", "c".repeat(BodyQueue.SMALL));
    }

    @Test
    void whatComesAfterTheCloseIsDropped() {
        send("a");
        send("b");
        writer.close();
        send("c");
        writer.taken();

        assertThat(texts()).containsExactly("a");
    }
}
