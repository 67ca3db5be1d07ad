package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.Opened;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §12: every limit is crossed. Those of heads and windows are in the tests of their sections. */
final class SessionLimitTest {
    private static final int OPENS = FrameCodec.HEAD_OPENS | FrameCodec.END;

    @Test
    void openerKeepsToTheStreamsThatThePeerTakes() {
        try (SessionPair pair = SessionPair.live(SessionPair.streams(1000), SessionPair.streams(3))) {
            pair.request();
            pair.request();
            int id = pair.request();
            assertThat(pair.server.session.canOpen()).isFalse();

            pair.client.respond(id, 200, true);
            pair.drive();

            assertThat(pair.server.session.canOpen()).isTrue();
        }
    }

    @Test
    void openerKeepsToItsOwnLimitWhateverThePeerTakes() {
        try (SessionPair pair = SessionPair.live(SessionPair.streams(2), SessionPair.streams(1_000_000))) {
            pair.request();
            pair.request();

            assertThat(pair.server.session.canOpen()).isFalse();
        }
    }

    @Test
    void streamsOverTheLimitAreRefused() {
        try (SessionPair pair = SessionPair.live(SessionPair.streams(2))) {
            RawHeads raw = new RawHeads(pair);
            List<Frame> answers = RawHeads.frames(pair.client);
            for (int id = 1; id <= 4; id++) {
                raw.toClient(id, OPENS, Side.request("/"));
            }
            pair.client.send(pair.nowNanos);

            assertThat(answers).containsExactly(new Frame.Reset(3, ErrorCode.REFUSED, 0, 2, ""),
                    new Frame.Reset(4, ErrorCode.REFUSED, 0, 2, ""));
            assertThat(pair.client.count(Opened.class)).isEqualTo(2);
        }
    }

    @Test
    void resetsThatWaitForTheSocketAreBoundedAgainstRefusals() {
        try (SessionPair pair = SessionPair.live(SessionPair.streams(2))) {
            RawHeads raw = new RawHeads(pair);
            pair.client.out.block(true);
            int most = 2 + 2 * 2 + 16;
            for (int id = 1; id <= most; id++) {
                raw.toClient(id, OPENS, Side.request("/"));
            }
            assertThat(pair.client.session.isLive()).isTrue();

            raw.toClient(most + 1, OPENS, Side.request("/"));

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.OVERLOADED);
            assertThat(pair.client.session.session.outbox.queuedEntries()).as("GOAWAY alone").isEqualTo(1);
        }
    }

    @Test
    void resetsThatWaitForTheSocketAreBoundedAgainstOpenAndFault() {
        try (SessionPair pair = SessionPair.live(SessionPair.streams(10))) {
            RawHeads raw = new RawHeads(pair);
            pair.client.out.block(true);
            int id = 0;
            while (pair.client.session.isLive()) {
                raw.toClient(++id, OPENS, Side.request("/"));
                pair.client.session.handle(new Frame.Data(id, pair.allocator.heapBuffer().writeByte(1), true),
                        0);
                assertThat(pair.client.session.session.outbox.queuedEntries())
                        .isLessThanOrEqualTo(2 * 10 + 16);
            }
            pair.client.drainEvents();

            assertThat(id).isEqualTo(2 * 10 + 16 + 1);
            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.OVERLOADED);
        }
    }

    @Test
    void openAndResetOfThePeerLeavesNothingBehind() {
        try (SessionPair pair = SessionPair.live(SessionPair.streams(2))) {
            RawHeads raw = new RawHeads(pair);
            pair.client.out.block(true);
            pair.client.onEvent = event -> {
                if (event instanceof Opened opened) {
                    pair.client.respond(opened.streamId(), 103, false);
                    pair.client.respond(opened.streamId(), 200, false);
                    pair.client.write(opened.streamId(), 1_000);
                    pair.client.session.end(opened.streamId(), Side.trailers("x"));
                }
            };
            for (int id = 1; id <= 10_000; id++) {
                raw.toClient(id, OPENS, Side.request("/"));
                pair.client.session.handle(new Frame.Reset(id, ErrorCode.CANCELLED, 0, 0, ""), 0);
                pair.client.drainEvents();
            }

            assertThat(pair.client.session.isLive()).isTrue();
            assertThat(pair.client.session.session.outbox.queuedEntries()).isZero();
            assertThat(pair.client.session.bufferedBytes()).isZero();
        }
    }

    @Test
    void streamThatQueuesTooMuchIsReset() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.respond(id, 200, false);
            pair.drive();
            pair.client.out.block(true);
            pair.client.write(id, 1 << 20);
            pair.drive();
            assertThat(pair.client.session.bufferedBytes()).isEqualTo(1 << 20);

            pair.client.write(id, 1);
            pair.client.out.block(false);
            pair.drive();

            assertThat(pair.client.log(id).resetCode()).isEqualTo(ErrorCode.OVERLOADED);
            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.OVERLOADED);
            assertThat(pair.client.session.isLive()).isTrue();
            pair.assertIdle();
        }
    }

    @Test
    void ninthInformationalHeadThatWaitsResetsItsStream() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.out.block(true);
            for (int i = 0; i < 8; i++) {
                pair.client.respond(id, 103, false);
            }
            pair.drive();
            assertThat(pair.client.log(id).reset).isNull();

            pair.client.respond(id, 103, false);
            pair.client.out.block(false);
            pair.drive();

            assertThat(pair.client.log(id).resetCode()).isEqualTo(ErrorCode.OVERLOADED);
            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.OVERLOADED);
        }
    }

    @Test
    void anyNumberOfInformationalHeadsMayPassInTime() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            for (int i = 0; i < 100; i++) {
                pair.client.respond(id, 103, false);
                pair.drive();
            }
            pair.client.respond(id, 200, true);
            pair.drive();

            assertThat(pair.server.log(id).heads).hasSize(101);
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void informationalHeadsBeyondTheReceiversLimitReset() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            RawHeads raw = new RawHeads(pair);
            for (int i = 0; i < 100; i++) {
                raw.toServer(id, 0, Side.response(103));
            }
            assertThat(pair.server.log(id).reset).isNull();

            raw.toServer(id, 0, Side.response(103));

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.OVERLOADED);
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void informationalHeadsAreTogetherAtMostOneHead() {
        try (SessionPair pair = SessionPair.live(SessionPair.heads(72 << 10, 132, 4096))) {
            int id = pair.request();
            RawHeads raw = new RawHeads(pair);
            String half = "a".repeat(36 << 10);
            raw.toServer(id, 0, Side.response(103).set("link", half));
            assertThat(pair.server.log(id).reset).isNull();

            raw.toServer(id, 0, Side.response(103).set("link", half));

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.OVERLOADED);
        }
    }

    @Test
    void senderDropsInformationalHeadsBeyondThePeersLimit() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            for (int i = 0; i < 150; i++) {
                pair.client.respond(id, 103, false);
                pair.drive();
            }
            pair.client.respond(id, 200, true);
            pair.drive();

            assertThat(pair.server.log(id).heads).hasSize(101);
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void headsThatWaitForTheSocketAreBounded() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.out.block(true);
            String path = "/" + "a".repeat(60 << 10);
            int opened = 0;
            while (pair.server.session.canOpen()) {
                pair.server.open(path, true);
                opened++;
            }

            assertThat(opened).isBetween(100, 200);
            pair.server.out.block(false);
            pair.drive();
            assertThat(pair.server.session.canOpen()).isTrue();
        }
    }

    @Test
    void thousandStreamsRunAtOnceAndOneMoreDoesNot() {
        try (SessionPair pair = SessionPair.live()) {
            for (int i = 0; i < 1000; i++) {
                assertThat(pair.server.session.canOpen()).isTrue();
                pair.server.open("/" + i, true);
            }
            pair.drive();

            assertThat(pair.server.session.canOpen()).isFalse();
            assertThat(pair.client.session.streamCount()).isEqualTo(1000);
            for (int id = 1; id <= 1000; id++) {
                pair.client.respond(id, 204, true);
            }
            pair.drive();
            pair.assertIdle();
        }
    }

    @Test
    void limitsThatMakeNoSenseAreRefused() {
        SessionLimits sane = SessionLimits.defaults();
        assertThatThrownBy(() -> new SessionLimits(sane.accepts(), 0, 8, sane.openingTimeout(),
                sane.heartbeatInterval(), sane.heartbeatTimeout()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("queuedBytesPerStream: 0");
        assertThatThrownBy(() -> new SessionLimits(sane.accepts(), 1 << 20, -1, sane.openingTimeout(),
                sane.heartbeatInterval(), sane.heartbeatTimeout()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("informationalHeads: -1");
        assertThatThrownBy(() -> new SessionLimits(sane.accepts(), 1 << 20, 8, sane.openingTimeout(),
                sane.heartbeatInterval(), Duration.ZERO)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heartbeatTimeout: PT0S");
    }
}
