package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §7: order and fairness of sending, in batches and virtual time. */
final class SessionOrderTest {
    private static final int QUANTUM = 16 << 10;
    /** So that one batch takes about 65 ms. */
    private static final long SLOW = 1_000_000;

    @Test
    void headWaitsBehindAtMostOneBatch() {
        try (SessionPair pair = SessionPair.live()) {
            for (int i = 0; i < 50; i++) {
                pair.client.write(respondingStream(pair), 500_000);
            }
            int id = pair.request();
            long wire = Duration.ofSeconds(1).toNanos() * FrameCodec.MAX_BATCH / SLOW;
            pair.client.out.bandwidth(SLOW);
            pair.client.send(pair.nowNanos); // the one batch
            long asked = pair.nowNanos;
            pair.client.respond(id, 200, true);
            pair.advance(Duration.ofNanos(2 * wire));

            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.nowNanos - asked).isLessThanOrEqualTo(2 * wire);
        }
    }

    @Test
    void headIsTheFirstFrameOfTheNextBatch() {
        try (SessionPair pair = SessionPair.live()) {
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.write(respondingStream(pair), 500_000);
            int id = pair.request();
            pair.client.send(pair.nowNanos);
            frames.clear();
            pair.client.respond(id, 200, true);
            pair.client.send(pair.nowNanos);

            assertThat(frames.getFirst()).isInstanceOfSatisfying(Frame.Head.class,
                    head -> assertThat(head.streamId()).isEqualTo(id));
            pair.drive();
        }
    }

    @Test
    void controlComesBeforeHeadsAndHeadsBeforeData() {
        try (SessionPair pair = SessionPair.live()) {
            int bulk = respondingStream(pair);
            int answered = pair.request();
            int failed = pair.request();
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.write(bulk, 100);
            pair.client.respond(answered, 200, true);
            pair.client.session.handle(new Frame.Ping(5, false), pair.nowNanos);
            pair.client.session.reset(failed, ErrorCode.FAILED, 0, 4, "");
            pair.drive();

            assertThat(frames.stream().map(frame -> frame.getClass().getSimpleName()))
                    .containsExactly("Reset", "Ping", "Head", "Data");
        }
    }

    @Test
    void shortBodyFollowsItsHeadAtOnce() {
        try (SessionPair pair = SessionPair.live()) {
            int bulk = respondingStream(pair);
            List<Integer> ids = List.of(pair.request(), pair.request(), pair.request(), pair.request());
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.write(bulk, 1_000);
            int[] bodies = {200, 0, 1_025, 1_024};
            for (int i = 0; i < bodies.length; i++) {
                pair.client.respond(ids.get(i), 200, false);
                pair.client.write(ids.get(i), bodies[i]);
                pair.client.end(ids.get(i));
            }
            pair.drive();

            assertThat(frames.stream().map(SessionOrderTest::described)).containsExactly(
                    "Head " + ids.get(0), "Data " + ids.get(0), "Head " + ids.get(1), "Data " + ids.get(1),
                    "Head " + ids.get(2), "Head " + ids.get(3), "Data " + ids.get(3), "Data " + bulk,
                    "Data " + ids.get(2));
        }
    }

    @Test
    void shortBodiesWithHeadsDelayDataInTurnByOneBatch() {
        try (SessionPair pair = SessionPair.live()) {
            int bulk = respondingStream(pair);
            List<Integer> ids = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                ids.add(pair.request());
            }
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.write(bulk, 1_000);
            for (int id : ids) {
                pair.client.respond(id, 200, false);
                pair.client.write(id, 1_000);
                pair.client.end(id);
            }
            pair.drive();

            List<Frame.Data> data = frames.stream()
                    .filter(Frame.Data.class::isInstance)
                    .map(Frame.Data.class::cast)
                    .toList();
            assertThat(data).hasSize(101);
            assertThat(data.get(66).streamId()).isEqualTo(bulk);
            assertThat(ids).allMatch(id -> pair.server.log(id).closed);
        }
    }

    private static String described(Frame frame) {
        return switch (frame) {
            case Frame.Head head -> "Head " + head.streamId();
            case Frame.Data data -> "Data " + data.streamId();
            default -> frame.toString();
        };
    }

    @Test
    void streamsWithBytesGetTheSameShareWhateverTheirChunks() {
        try (SessionPair pair = SessionPair.live()) {
            int[] chunks = {100, 1_000, 7_000, 16_376, 40_000};
            int[] ids = new int[chunks.length];
            for (int i = 0; i < chunks.length; i++) {
                ids[i] = respondingStream(pair);
            }
            for (int batch = 0; batch < 30; batch++) {
                for (int i = 0; i < chunks.length; i++) {
                    while (pair.client.log(ids[i]).writtenBytes
                            - pair.client.log(ids[i]).sentBytes < 80_000) {
                        pair.client.write(ids[i], chunks[i]);
                    }
                }
                pair.client.send(pair.nowNanos);
                pair.server.receive(pair.client.out, pair.nowNanos);
                pair.server.send(pair.nowNanos);
                pair.client.receive(pair.server.out, pair.nowNanos);
                assertThat(spread(pair, ids)).as("after batch %s", batch).isLessThanOrEqualTo(QUANTUM);
            }
            assertThat(pair.client.log(ids[0]).sentBytes).isGreaterThan(20 * QUANTUM);
        }
    }

    @Test
    void smallStreamFinishesWhileABulkStreamRuns() {
        try (SessionPair pair = SessionPair.live()) {
            int bulk = respondingStream(pair);
            int small = pair.request();
            pair.client.out.bandwidth(SLOW);
            pair.client.write(bulk, 1_000_000);
            pair.client.send(pair.nowNanos);
            pair.client.respond(small, 200, false);
            pair.client.write(small, 2_000);
            pair.client.end(small);
            pair.advance(Duration.ofMillis(140)); // two batches

            assertThat(pair.server.log(small).closed).isTrue();
            assertThat(pair.server.log(bulk).receivedBytes).isLessThan(200_000);
            pair.drive();
            assertThat(pair.server.log(bulk).receivedBytes).isEqualTo(1_000_000);
        }
    }

    @Test
    void thousandStalledStreamsDelayNobody() {
        Duration alone = timeOfADownload(0);
        Duration amongStalled = timeOfADownload(999);

        assertThat(amongStalled).isEqualTo(alone);
    }

    @Test
    void stalledStreamsTakeNoTurns() {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(1 << 10, 16 << 20))) {
            List<Integer> stalled = stalledStreams(pair, 999);
            long batches = pair.client.out.batches();
            int id = pair.request();
            pair.client.respond(id, 200, false);
            pair.client.write(id, 1_000);
            pair.client.end(id);
            pair.drive();

            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.client.out.batches() - batches).isEqualTo(1);
            stalled.forEach(pair.server::resume);
            pair.drive();
            assertThat(pair.server.streams.values()).allMatch(log -> log.closed);
            pair.assertIdle();
        }
    }

    @Test
    void exhaustedSessionWindowHoldsBackDataButNoHeadsAndEnds() {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(1 << 20, 64 << 10))) {
            int bulk = respondingStream(pair);
            int ending = respondingStream(pair);
            int id = pair.request();
            pair.client.write(bulk, 500_000);
            while (pair.client.send(pair.nowNanos)) {
                // until the session's window is used up
            }
            assertThat(pair.client.log(bulk).sentBytes).isEqualTo(64 << 10);
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.end(ending);
            pair.client.respond(id, 204, true);
            pair.client.send(pair.nowNanos);
            assertThat(frames).extracting(frame -> frame.getClass().getSimpleName())
                    .containsExactly("Head", "Data");
            pair.drive();

            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.server.log(ending).ended).isTrue();
            assertThat(pair.server.log(bulk).receivedBytes).isEqualTo(500_000);
        }
    }

    @Test
    void pingsAndPongsAreOneEachHoweverLongTheSocketIsBlocked() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.out.block(true);
            for (int i = 0; i < 10_000; i++) {
                pair.client.session.handle(new Frame.Ping(i, false), pair.nowNanos);
                pair.client.session.received();
                pair.client.session.onDeadline(pair.nowNanos + Duration.ofSeconds(10L * i).toNanos());
            }
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.out.block(false);
            pair.drive();

            assertThat(frames).hasSize(2).contains(new Frame.Ping(9_999, true));
        }
    }

    @Test
    void streamsThatAreGoneLeaveTheQueues() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.out.block(true);
            for (int i = 0; i < 10_000; i++) {
                int id = pair.server.open("/", false);
                pair.server.write(id, 10);
                pair.server.session.end(id, Side.trailers("x"));
                pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            }

            assertThat(pair.server.session.session.outbox.queuedEntries()).isZero();
            assertThat(pair.server.session.hasFrames()).isFalse();
        }
    }

    private static Duration timeOfADownload(int stalledStreams) {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(16 << 10, 16 << 20))) {
            stalledStreams(pair, stalledStreams);
            pair.client.out.bandwidth(10_000_000).latency(Duration.ofMillis(10));
            pair.server.out.latency(Duration.ofMillis(10));
            int id = pair.server.open("/", true);
            long start = pair.nowNanos;
            pair.client.onEvent = event -> {
                if (event instanceof SessionEvent.Opened) {
                    pair.client.respond(id, 200, false);
                    pair.client.write(id, 1_000_000);
                    pair.client.end(id);
                }
            };
            pair.drive();
            assertThat(pair.server.log(id).closed).isTrue();
            return Duration.ofNanos(pair.nowNanos - start);
        }
    }

    /** Streams whose readers do not read, with more queued than their windows take. */
    private static List<Integer> stalledStreams(SessionPair pair, int count) {
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int id = pair.server.open("/" + i, true);
            ids.add(id);
            pair.server.stall(id);
        }
        pair.drive();
        for (int id : ids) {
            pair.client.respond(id, 200, false);
            pair.client.write(id, 20_000);
            pair.client.end(id);
        }
        pair.drive();
        return ids;
    }

    private static int respondingStream(SessionPair pair) {
        int id = pair.request();
        pair.client.respond(id, 200, false);
        pair.drive();
        return id;
    }

    private static long spread(SessionPair pair, int[] ids) {
        long least = Long.MAX_VALUE;
        long most = 0;
        for (int id : ids) {
            least = Math.min(least, pair.client.log(id).sentBytes);
            most = Math.max(most, pair.client.log(id).sentBytes);
        }
        return most - least;
    }
}
