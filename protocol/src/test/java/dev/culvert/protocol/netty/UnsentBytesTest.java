package dev.culvert.protocol.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UnsentBytesTest {
    private static final int STEP = 25;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final UnsentBytes unsent = new UnsentBytes();
    private long millis = 1000;

    @BeforeEach
    void begin() {
        unsent.begin(channel);
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void beginsWithTheMost() {
        assertThat(unsent.batchBytes()).isEqualTo(64 << 10);
        assertThat(channel.config().getWriteBufferHighWaterMark()).isEqualTo(64 << 10);
        assertThat(channel.config().getWriteBufferLowWaterMark()).isEqualTo(32 << 10);
    }

    @Test
    void aFullLinkOf100MegabitsHoldsFiveMilliseconds() {
        full(12_500, 40);

        assertThat(unsent.batchBytes() * 4).isBetween(12_500 * 5 - 4, 12_500 * 5);
        assertThat(channel.config().getWriteBufferHighWaterMark()).isEqualTo(unsent.batchBytes());
    }

    @Test
    void aSlowLinkHoldsTheLeast() {
        full(100, 40);

        assertThat(unsent.batchBytes() * 4).isEqualTo(UnsentBytes.MIN);
    }

    @Test
    void aFastLinkHoldsTheMostAgain() {
        full(100, 40);
        full(1_000_000, 2);

        assertThat(unsent.batchBytes() * 4).isEqualTo(UnsentBytes.MAX);
    }

    @Test
    void aPauseIsNoMeasure() {
        full(1_000_000, 2);
        millis += 1000;
        full(1, 1);

        assertThat(unsent.batchBytes() * 4).isEqualTo(UnsentBytes.MAX);
    }

    /** @param rate bytes a millisecond */
    private void full(int rate, int times) {
        for (int i = 0; i < times; i++) {
            unsent.wrote(rate * STEP);
            millis += STEP;
            unsent.full(channel, Duration.ofMillis(millis).toNanos());
        }
    }
}
