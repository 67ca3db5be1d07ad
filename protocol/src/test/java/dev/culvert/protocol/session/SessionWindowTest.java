package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.SessionEvent.Closed;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §6: windows of streams and of the session. */
final class SessionWindowTest {
    private static final int STREAM_WINDOW = 256 << 10;
    private static final int FRAME = 16_000;

    @Test
    void stalledReaderGetsOneWindowAndNoMore() {
        try (SessionPair pair = SessionPair.live()) {
            int id = download(pair, 900_000);
            pair.server.stall(id);
            pair.drive();
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(STREAM_WINDOW);
            assertThat(pair.server.session.bufferedBytes()).isEqualTo(STREAM_WINDOW);

            pair.server.resume(id);
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(900_000);
            assertThat(pair.server.log(id).closed).isTrue();
            pair.assertIdle();
        }
    }

    @Test
    void stalledReadersNeverUseUpTheSession() {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(STREAM_WINDOW, 1 << 20))) {
            for (int i = 0; i < 20; i++) {
                pair.server.stall(download(pair, 900_000));
            }
            int id = download(pair, 900_000);
            pair.drive();

            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.server.session.bufferedBytes()).isEqualTo(20L * STREAM_WINDOW);
        }
    }

    @Test
    void grantIsSentOnceHalfTheWindowIsConsumed() {
        try (SessionPair pair = SessionPair.live()) {
            int id = download(pair, 900_000);
            pair.server.stall(id);
            pair.drive();
            long batches = pair.server.out.batches();

            pair.server.read(pair.server.log(id), STREAM_WINDOW / 2 - 1);
            pair.drive();
            assertThat(pair.server.out.batches()).isEqualTo(batches);
            pair.server.read(pair.server.log(id), 1);
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(STREAM_WINDOW + STREAM_WINDOW / 2);
            pair.server.read(pair.server.log(id), STREAM_WINDOW / 2 - 1);
            pair.drive();
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(STREAM_WINDOW + STREAM_WINDOW / 2);
        }
    }

    @Test
    void openersWindowOptionBoundsTheAnswer() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.session.open(StreamKind.HTTP, Side.request("/"), HeadOptions.window(1000),
                    true);
            pair.server.stall(id);
            pair.drive();
            pair.client.respond(id, 200, false);
            pair.client.write(id, 5000);
            pair.client.end(id);
            pair.drive();
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(1000);

            pair.server.resume(id);
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(5000);
            pair.assertIdle();
        }
    }

    @Test
    void windowOfOneByteStillFinishes() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.session.open(StreamKind.HTTP, Side.request("/"), HeadOptions.window(1),
                    true);
            pair.drive();
            pair.client.respond(id, 200, false);
            pair.client.write(id, 50);
            pair.client.end(id);
            pair.drive();

            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void smallestWindowsOfHelloCarryEverything() {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(1 << 10, 64 << 10))) {
            for (int i = 0; i < 5; i++) {
                download(pair, 500_000);
            }
            pair.drive();

            assertThat(pair.server.streams.values())
                    .allMatch(log -> log.closed && log.receivedBytes == 500_000);
            pair.assertIdle();
        }
    }

    @Test
    void endAndTrailersNeedNoWindow() {
        try (SessionPair pair = SessionPair.live()) {
            int plain = exhausted(pair);
            int withTrailers = exhausted(pair);
            pair.client.end(plain);
            pair.client.session.end(withTrailers, Side.trailers("x"));
            pair.drive();

            assertThat(pair.server.log(plain).ended).isTrue();
            assertThat(pair.server.log(withTrailers).trailers).isNotNull();
        }
    }

    @Test
    void trailersWaitForDataThatWaitsForTheWindow() {
        try (SessionPair pair = SessionPair.live()) {
            int id = exhausted(pair);
            pair.client.write(id, 10);
            pair.client.session.end(id, Side.trailers("x"));
            pair.drive();
            assertThat(pair.server.log(id).trailers).isNull();

            pair.server.end(id);
            pair.server.resume(id);
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(STREAM_WINDOW + 10);
            assertThat(pair.server.log(id).trailers).isNotNull();
            pair.assertIdle();
        }
    }

    @Test
    void overrunningAStreamWindowResetsTheStream() {
        try (SessionPair pair = SessionPair.live()) {
            int id = exhausted(pair);

            handle(pair, pair.server, new Frame.Data(id, bytes(pair, 1), false));
            pair.drive();

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.FLOW_CONTROL);
            assertThat(pair.client.log(id).resetCode()).isEqualTo(ErrorCode.FLOW_CONTROL);
            assertThat(pair.server.session.isLive()).isTrue();
            pair.assertIdle();
        }
    }

    @Test
    void overrunningTheSessionWindowEndsTheSession() {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(1 << 20, 64 << 10))) {
            int id = respondingStream(pair);
            pair.server.out.block(true);

            for (int i = 0; i < 4; i++) {
                handle(pair, pair.server, new Frame.Data(id, bytes(pair, FRAME), false));
            }
            assertThat(pair.server.session.isLive()).isTrue();
            handle(pair, pair.server, new Frame.Data(id, bytes(pair, FRAME), false));

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.FLOW_CONTROL);
        }
    }

    @Test
    void dataOfAClosedStreamCountsInTheSessionsWindow() {
        try (SessionPair pair = SessionPair.live(SessionPair.windows(1 << 20, 64 << 10))) {
            int id = respondingStream(pair);
            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            pair.drive();
            pair.server.out.block(true);

            for (int i = 0; i < 5; i++) {
                handle(pair, pair.server, new Frame.Data(id, bytes(pair, FRAME), false));
            }

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.FLOW_CONTROL);
        }
    }

    @Test
    void grantsThatLiftAStreamOverItsMaximumResetIt() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", false);
            pair.drive();
            handle(pair, pair.server, new Frame.Grant(id, (16 << 20) - STREAM_WINDOW));
            assertThat(pair.server.session.streamCount()).isEqualTo(1);

            handle(pair, pair.server, new Frame.Grant(id, 1));
            pair.drive();

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.FLOW_CONTROL);
            assertThat(pair.client.log(id).resetCode()).isEqualTo(ErrorCode.FLOW_CONTROL);
        }
    }

    @Test
    void grantsThatLiftTheSessionOverItsMaximumEndIt() {
        try (SessionPair pair = SessionPair.live()) {
            handle(pair, pair.server, new Frame.Grant(0, Integer.MAX_VALUE - (16 << 20)));
            assertThat(pair.server.session.isLive()).isTrue();

            handle(pair, pair.server, new Frame.Grant(0, 1));

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.FLOW_CONTROL);
        }
    }

    @Test
    void consumingMoreThanWasReceivedIsTheCallersFault() {
        try (SessionPair pair = SessionPair.live()) {
            int id = exhausted(pair);

            assertThatThrownBy(() -> pair.server.session.consumed(id, STREAM_WINDOW + 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("262145 of 262144");
            assertThatThrownBy(() -> pair.server.session.consumed(id, -1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void consumedBytesOfAResetStreamGrantNothing() {
        try (SessionPair pair = SessionPair.live()) {
            int id = exhausted(pair);
            pair.server.out.block(true);
            pair.server.read(pair.server.log(id), STREAM_WINDOW / 2);
            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            List<Frame> sent = RawHeads.frames(pair.server);
            pair.server.out.block(false);
            pair.drive();

            assertThat(sent).containsExactly(new Frame.Reset(id, ErrorCode.CANCELLED, 0, 1, ""));
        }
    }

    @Test
    void smallPartsOfALaggingReaderDoNotHoldTheirBatches() {
        try (SessionPair pair = SessionPair.live()) {
            int slow = respondingStream(pair);
            int fast = respondingStream(pair);
            List<ByteBuf> held = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                ByteBuf batch = pair.allocator.heapBuffer(50_000);
                FrameCodec.encode(new Frame.Data(slow, bytes(pair, 20), false), batch);
                FrameCodec.encode(new Frame.Data(fast, bytes(pair, FRAME), false), batch);
                FrameCodec.encode(new Frame.Data(fast, bytes(pair, FRAME), false), batch);
                while (batch.isReadable()) {
                    pair.server.session.handle(FrameCodec.decode(batch), pair.nowNanos);
                }
                batch.release();
                readOneHoldOthers(pair, fast, held);
                pair.drive();
            }

            assertThat(held).hasSize(50);
            assertThat(pair.allocator.metric().usedHeapMemory()).as("held for 1,000 bytes")
                    .isLessThan(100_000);
            held.forEach(ByteBuf::release);
        }
    }

    private static void readOneHoldOthers(SessionPair pair, int read, List<ByteBuf> held) {
        Session session = pair.server.session;
        for (SessionEvent event = session.pollEvent(); event != null; event = session.pollEvent()) {
            if (event instanceof SessionEvent.Data data && data.streamId() == read) {
                session.consumed(read, data.body().readableBytes());
                data.body().release();
            } else if (event instanceof SessionEvent.Data data) {
                held.add(data.body());
            }
        }
    }

    /** A stream whose response has begun. */
    private static int respondingStream(SessionPair pair) {
        int id = pair.server.open("/", false);
        pair.drive();
        pair.client.respond(id, 200, false);
        pair.drive();
        return id;
    }

    /** A stream whose response has used up its window. */
    private static int exhausted(SessionPair pair) {
        int id = respondingStream(pair);
        pair.server.stall(id);
        pair.client.write(id, STREAM_WINDOW);
        pair.drive();
        return id;
    }

    /** A stream whose response of {@code bytes} is queued. */
    private static int download(SessionPair pair, int bytes) {
        int id = pair.request();
        pair.client.respond(id, 200, false);
        pair.client.write(id, bytes);
        pair.client.end(id);
        return id;
    }

    private static void handle(SessionPair pair, Side side, Frame frame) {
        side.session.handle(frame, pair.nowNanos);
        side.drainUnread();
    }

    private static ByteBuf bytes(SessionPair pair, int count) {
        return pair.allocator.heapBuffer(count).writeZero(count);
    }
}
