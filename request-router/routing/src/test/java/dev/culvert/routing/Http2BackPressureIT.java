package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.outbound.Http2UpstreamBuilder;
import dev.culvert.routing.Http2Upstream.Asked;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Who does not take its bytes holds its stream's window and no more, and slows nobody else. */
class Http2BackPressureIT {
    private static final int BYTES = 8 << 20;

    @AutoClose
    private final Http2Loopback loopback = new Http2Loopback();

    private Asker stalled() {
        Asker asker = loopback.asker();
        asker.stalled = true;
        return asker.get("/");
    }

    @Test
    void muchCrossesFromTheUpstream() {
        Asker asker = loopback.get();

        loopback.asked().head("200", false).pattern(BYTES);

        asker.awaitEnd();
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(BYTES));
    }

    @Test
    void muchCrossesToTheUpstream() {
        Asker asker = loopback.post("content-length", Integer.toString(BYTES));
        asker.upload(BYTES);
        Asked asked = loopback.asked();

        asked.awaitEnd();
        assertThat(asked.received).hasValue(BYTES);
        asked.head("200", true);

        asker.awaitEnd().awaitConsumed(BYTES);
    }

    @Test
    void aStalledAskerHoldsItsWindow() {
        Asker asker = stalled();
        loopback.asked().head("200", false).pattern(BYTES);

        await().until(() -> asker.received.get() == Http2UpstreamBuilder.STREAM_WINDOW);
        awaitStandstill(asker.received);

        assertThat(asker.received).hasValue(Http2UpstreamBuilder.STREAM_WINDOW);
        assertThat(loopback.relay.bufferedBytes()).isEqualTo(Http2UpstreamBuilder.STREAM_WINDOW);
        asker.resume();
        asker.awaitEnd();
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(BYTES));
    }

    @Test
    void stalledAskersSlowNobodyElseOnTheirConnection() {
        List<Asker> stalled = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            stalled.add(stalled());
            loopback.asked().head("200", false).pattern(BYTES / 32);
        }

        Asker other = loopback.get();
        loopback.asked().head("200", false).pattern(BYTES);

        other.awaitEnd();
        assertThat(loopback.relay.openConnections()).isEqualTo(1);
        stalled.forEach(Asker::cancel);
    }

    @Test
    void anUpstreamThatDoesNotReadStopsTheAsker() {
        loopback.upstream.reading = false;
        Asker asker = loopback.post();
        asker.upload(BYTES);
        Asked asked = loopback.asked();

        await().until(() -> asked.received.get() == 65_535);
        awaitStandstill(asker.requestGiven);

        long held = asker.requestGiven.get() - asker.requestConsumed.get();
        assertThat(held).isBetween(1L, 64L << 10);
        assertThat(loopback.relay.bufferedBytes()).isEqualTo(held);
        loopback.upstream.reading = true;
        asked.consume(65_535);
        asked.awaitEnd();
        asked.answer();
        asker.awaitEnd().awaitConsumed(BYTES);
    }

    @Test
    void aCancelWhileStalledLeavesNothing() {
        Asker asker = stalled();
        loopback.asked().head("200", false).pattern(BYTES);
        await().until(() -> asker.received.get() > 0);

        asker.cancel();

        assertThat(loopback.relay.bufferedBytes()).isZero();
    }

    private static void awaitStandstill(AtomicLong count) {
        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(300))
                .atMost(Loopback.LONG)
                .until(() -> count.get() > 0 && last.getAndSet(count.get()) == count.get());
    }
}
