package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.netty.WindowPool;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §6: windows that grow, in virtual time. */
final class WindowGrowthTest {
    private static final int FIRST = 256 << 10;
    private static final Duration LATENCY = Duration.ofMillis(40);
    private static final int MIB = 1 << 20;
    private static final int WRITTEN_AHEAD = MIB / 2;
    /** Of which 4 MB are on the way in a round trip. */
    private static final int FAST_LINK = 50_000_000;

    private final AtomicBoolean pressed = new AtomicBoolean();
    private final WindowPool pool = new WindowPool(64L * MIB, pressed::get);

    @Test
    void streamOverALongWayFillsTheLinkWithinTwoSeconds() {
        try (SessionPair pair = SessionPair.growing(pool).latency(LATENCY)) {
            pair.client.out.bandwidth(12_500_000); // 100 Mbit/s: 1 MB in a round trip
            int id = download(pair, 100 * MIB);
            pair.advance(Duration.ofSeconds(2));
            long before = pair.server.log(id).receivedBytes;
            pair.advance(Duration.ofSeconds(2));

            assertThat(pair.server.log(id).receivedBytes - before).isGreaterThan(12_500_000L * 2 * 95 / 100);
        }
    }

    @Test
    void windowGrowsToItsMaximumAndIsGivenBackAtTheEnd() {
        try (SessionPair pair = SessionPair.growing(pool).latency(LATENCY)) {
            int id = download(pair, 150 * MIB);
            pair.advance(Duration.ofMillis(1200));
            assertThat(pool.lent()).isEqualTo(WindowGrowth.MAX_WINDOW - FIRST);
            pair.advance(Duration.ofSeconds(3));

            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pool.lent()).isZero();
            pair.assertIdle();
        }
    }

    @Test
    void uploadGrowsToo() {
        try (SessionPair pair = SessionPair.growing(pool).latency(LATENCY)) {
            int id = pair.server.open("/", false);
            feed(pair.server, id, 60 * MIB);
            pair.advance(Duration.ofSeconds(3));

            assertThat(pair.client.log(id).receivedBytes).isEqualTo(60 * MIB);
        }
    }

    @Test
    void shortWayNeedsNoMore() {
        try (SessionPair pair = SessionPair.growing(pool)) {
            pair.client.out.bandwidth(100_000_000);
            pair.latency(Duration.ofMillis(1)); // 200 KB in a round trip
            download(pair, 50 * MIB);
            pair.advance(Duration.ofMillis(400));

            assertThat(pool.lent()).as("in excess of four times 256 KiB").isLessThanOrEqualTo(3 * FIRST);
        }
    }

    @Test
    void stalledReaderIsLentNothingMore() {
        try (SessionPair pair = SessionPair.growing(pool).latency(LATENCY)) {
            int id = download(pair, 50 * MIB);
            pair.server.stall(id);
            pair.advance(Duration.ofSeconds(5));

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(FIRST);
            assertThat(pool.lent()).isZero();
        }
    }

    @Test
    void readerThatStopsAfterHalfAWindowIsLentNothingMore() {
        try (SessionPair pair = SessionPair.growing(pool).latency(LATENCY)) {
            int id = download(pair, 50 * MIB);
            Consumer<SessionEvent> reading = pair.server.onEvent;
            pair.server.onEvent = event -> {
                reading.accept(event);
                if (pair.server.log(id).receivedBytes >= FIRST / 2) {
                    pair.server.stall(id);
                }
            };
            pair.advance(Duration.ofSeconds(5));

            assertThat(pair.server.log(id).receivedBytes).isBetween((long) FIRST, 2L * FIRST);
            assertThat(pool.lent()).isZero();
        }
    }

    @Test
    void shortOfMemoryWindowsShrinkToTheirFirstSize() {
        try (SessionPair pair = SessionPair.growing(pool).latency(LATENCY)) {
            pair.client.out.bandwidth(FAST_LINK);
            int id = download(pair, 200 * MIB);
            pair.advance(Duration.ofSeconds(2));
            assertThat(pool.lent()).isGreaterThan(2L * MIB);
            pressed.set(true);
            pair.advance(Duration.ofSeconds(1));
            assertThat(pool.lent()).isZero();
            pair.server.stall(id);
            long held = pair.server.session.bufferedBytes();
            pair.advance(Duration.ofSeconds(1));

            assertThat(pair.server.session.bufferedBytes() - held).isLessThanOrEqualTo(FIRST);
        }
    }

    @Test
    void streamsThatBeginLaterGetTheirShare() {
        var small = new WindowPool(8L * MIB, pressed::get);
        try (SessionPair pair = SessionPair.growing(small).latency(LATENCY)) {
            pair.client.out.bandwidth(FAST_LINK);
            List<Integer> ids = List.of(pair.request(), pair.request(), pair.request(), pair.request());
            answer(pair, ids.getFirst(), 400 * MIB);
            pair.advance(Duration.ofSeconds(2));
            long first = small.lent();
            List<Integer> later = ids.subList(1, 4);
            later.forEach(id -> answer(pair, id, 400 * MIB));
            pair.advance(Duration.ofSeconds(2));

            assertThat(first).isLessThanOrEqualTo(4L * MIB);
            assertThat(small.lent()).isBetween(first + 1, 8L * MIB);
            later.forEach(id -> pair.client.session.reset(id, ErrorCode.FAILED, 0, 4, ""));
            pair.advance(Duration.ofSeconds(2));
            assertThat(small.lent()).isLessThanOrEqualTo(4L * MIB);
        }
    }

    private static int download(SessionPair pair, int bytes) {
        int id = pair.request();
        answer(pair, id, bytes);
        return id;
    }

    private static void answer(SessionPair pair, int id, int bytes) {
        pair.client.respond(id, 200, false);
        feed(pair.client, id, bytes);
    }

    /** Writes as an application does: as much as was sent. */
    private static void feed(Side side, int id, int bytes) {
        var left = new AtomicInteger(bytes - WRITTEN_AHEAD);
        side.write(id, WRITTEN_AHEAD);
        Consumer<SessionEvent> others = side.onEvent;
        side.onEvent = event -> {
            others.accept(event);
            if (event instanceof SessionEvent.Sent sent && sent.streamId() == id && left.get() > 0) {
                int more = Math.min(left.get(), sent.bytes());
                side.write(id, more);
                if (left.addAndGet(-more) == 0) {
                    side.end(id);
                }
            }
        };
    }
}
