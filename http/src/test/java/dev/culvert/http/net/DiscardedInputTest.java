package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.SourceAddress;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The channels' clocks stand still until the test advances them. */
final class DiscardedInputTest {
    private static final SourceAddress SOURCE = new SourceAddress(1, false);
    private static final Duration STEP = Duration.ofMillis(50);
    private static final int READ = 1 << 20;

    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private final List<DiscardedInput> inputs = new ArrayList<>();
    private DiscardAccounts accounts = new DiscardAccounts();
    private int cut;
    private long nanos;

    @BeforeEach
    void accounts() {
        connect(); // for the time at which its clock stands
        accounts = new DiscardAccounts(DiscardAccounts.OF_SOURCE, DiscardAccounts.OF_LISTENER,
                channels.getFirst().eventLoop().ticker().nanoTime());
        inputs.removeFirst().end();
        channels.removeFirst().close();
    }

    @AfterEach
    void close() {
        inputs.forEach(DiscardedInput::end);
        channels.forEach(EmbeddedChannel::close);
    }

    private void connect() {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.freezeTime();
        accounts.keep(channel, SOURCE);
        channels.add(channel);
        inputs.add(new DiscardedInput(channel, () -> channel.config().setAutoRead(true), () -> cut++));
    }

    /** Sends whenever the edge reads. Returns the bytes that it read in this time. */
    private long sendFor(Duration time) {
        long read = 0;
        for (long until = nanos + time.toNanos(); nanos < until; nanos += STEP.toNanos()) {
            for (int i = 0; i < channels.size(); i++) {
                while (channels.get(i).config().isAutoRead() && cut == 0 && read < 1L << 40) {
                    inputs.get(i).dropped(READ);
                    read += READ;
                }
            }
            channels.forEach(channel -> channel.advanceTimeBy(STEP.toNanos(), TimeUnit.NANOSECONDS));
            channels.forEach(EmbeddedChannel::runScheduledPendingTasks);
        }
        return read;
    }

    @Test
    void aSenderWithoutEndIsCutAfter30SecondsAnd544MiB() {
        connect();

        long read = sendFor(DiscardedInput.TIME);

        assertThat(cut).isOne();
        assertThat(read).isBetween(500L << 20, 545L << 20);
    }

    @Test
    void manyConnectionsOfOneSourceReadNoMoreThanOne() {
        for (int i = 0; i < 100; i++) {
            connect();
        }

        assertThat(sendFor(Duration.ofSeconds(20))).isLessThan((64 + 20 * 16 + 100) << 20);
        assertThat(cut).isZero();
    }

    @Test
    void anUploadOf30MiBIsReadWithoutAPause() {
        connect();

        inputs.getFirst().dropped(30 << 20);

        assertThat(channels.getFirst().config().isAutoRead()).isTrue();
    }

    @Test
    void aSilentPeerIsCutAfter5Seconds() {
        connect();
        EmbeddedChannel channel = channels.getFirst();
        channel.advanceTimeBy(DiscardedInput.SILENCE.toMillis() - 1, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        inputs.getFirst().dropped(1);
        channel.advanceTimeBy(DiscardedInput.SILENCE.toMillis() - 1, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
        assertThat(cut).isZero();

        channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();

        assertThat(cut).isOne();
    }

    @Test
    void aPauseIsNoSilence() {
        connect();
        EmbeddedChannel channel = channels.getFirst();
        inputs.getFirst().dropped((64 + 16 * 20) << 20); // 20 s to pay

        channel.advanceTimeBy(19, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();
        assertThat(channel.config().isAutoRead()).isFalse();
        channel.advanceTimeBy(2, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();

        assertThat(channel.config().isAutoRead()).isTrue();
        assertThat(cut).isZero();
    }

    @Test
    void afterTheEndNothingIsScheduled() {
        connect();
        inputs.getFirst().dropped(65 << 20);

        inputs.getFirst().end();

        assertThat(channels.getFirst().runScheduledPendingTasks()).isEqualTo(-1);
        assertThat(inputs.getFirst().isPaused()).isFalse();
    }
}
