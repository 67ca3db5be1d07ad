package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.ProtocolException;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.GoingAway;
import dev.culvert.protocol.session.SessionEvent.Opened;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §8 and §13: how sessions end. */
final class SessionGoAwayTest {

    @Test
    void clientThatGoesAwaySaysWhatItTookAndRefusesTheRest() {
        try (SessionPair pair = SessionPair.live().latency(Duration.ofMillis(10))) {
            int taken = pair.request();
            int crossing = pair.server.open("/", true);
            pair.client.session.goAway(ErrorCode.DRAINING, 0, "stopping");
            pair.drive();

            assertThat(pair.server.last(GoingAway.class))
                    .isEqualTo(new GoingAway(ErrorCode.DRAINING, taken, 0, "stopping"));
            assertThat(pair.server.log(crossing).resetCode()).isEqualTo(ErrorCode.REFUSED);
            assertThat(pair.client.count(Opened.class)).isEqualTo(1);
            assertThat(pair.server.session.canOpen()).isFalse();
            pair.client.respond(taken, 200, true);
            pair.drive();
            assertThat(pair.server.log(taken).closed).isTrue();
            pair.assertIdle();
        }
    }

    @Test
    void streamsThatWereNeverSentAreRefusedWithThoseThatCrossed() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.out.block(true);
            int waiting = pair.server.open("/", false);
            pair.server.write(waiting, 100);
            pair.client.session.goAway(ErrorCode.DRAINING, 0, "");
            pair.drive();

            assertThat(pair.server.log(waiting).resetCode()).isEqualTo(ErrorCode.REFUSED);
            pair.server.out.block(false);
            pair.drive();
            assertThat(pair.client.count(Opened.class)).isZero();
            pair.assertIdle();
        }
    }

    @Test
    void serverThatGoesAwayOpensNothingMore() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.server.session.goAway(ErrorCode.REPLACED, 500, "moved");
            pair.drive();

            assertThat(pair.client.last(GoingAway.class))
                    .isEqualTo(new GoingAway(ErrorCode.REPLACED, 0, 500, "moved"));
            assertThat(pair.server.session.canOpen()).isFalse();
            assertThatThrownBy(() -> pair.server.open("/", true)).isInstanceOf(IllegalStateException.class);
            pair.client.respond(id, 200, true);
            pair.drive();
            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.client.session.isDraining() && pair.server.session.isDraining()).isTrue();
        }
    }

    /** The client may close on reading the GOAWAY when it has no stream. */
    @Test
    void serversGoAwayStandsBehindTheHeadsThatWait() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.out.block(true);
            int[] opened = new int[500];
            for (int i = 0; i < opened.length; i++) {
                opened[i] = pair.server.open("/" + "x".repeat(200) + i, true);
            }
            pair.server.session.goAway(ErrorCode.DRAINING, 0, "");
            pair.server.out.block(false);
            pair.drive();

            assertThat(pair.client.events.getLast()).isInstanceOf(GoingAway.class);
            assertThat(pair.client.count(Opened.class)).isEqualTo(opened.length);
        }
    }

    @Test
    void secondGoAwayIsNotSent() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.session.goAway(ErrorCode.DRAINING, 0, "first");
            pair.client.session.goAway(ErrorCode.DRAINING, 0, "second");
            pair.drive();

            assertThat(pair.server.count(GoingAway.class)).isEqualTo(1);
        }
    }

    @Test
    void heartbeatsGoOnWhileDraining() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.session.goAway(ErrorCode.DRAINING, 0, "");
            pair.advance(Duration.ofMinutes(10));
            assertThat(pair.server.session.streamCount()).isEqualTo(1);
            pair.client.out.lose();
            pair.server.out.lose();
            pair.advance(Duration.ofSeconds(14));

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.TIMEOUT);
        }
    }

    @Test
    void closeEndsBothSidesAndResetsTheStreams() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.session.close(ErrorCode.INTERNAL, "out of order");
            pair.drive();

            assertThat(pair.server.last(Closed.class))
                    .isEqualTo(new Closed(ErrorCode.INTERNAL, "out of order", true));
            assertThat(pair.server.log(id).reset).extracting("code", "cause", "hop")
                    .containsExactly(ErrorCode.INTERNAL, 7, 2);
            assertThat(pair.client.log(id).reset).isNotNull();
            pair.assertIdle();
        }
    }

    @Test
    void streamThatEndedBothWaysOutlivesItsSession() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.server.stall(id);
            pair.client.respond(id, 200, false);
            pair.client.write(id, 100);
            pair.client.end(id);
            pair.drive();
            assertThat(pair.server.session.streamCount()).isEqualTo(1);

            pair.disconnect();

            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.server.log(id).reset).isNull();
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(100);
        }
    }

    @Test
    void lostConnectionResetsStreamsAsFailed() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.disconnect();

            assertThat(pair.server.log(id).reset).extracting("code", "cause")
                    .containsExactly(ErrorCode.FAILED, 7);
            assertThat(pair.server.last(Closed.class).byPeer()).isTrue();
            assertThat(pair.server.session.hasFrames()).isFalse();
        }
    }

    @Test
    void headThatHasBegunIsFinishedBeforeTheLastWord() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.open(Side.request("/" + "~".repeat(60_000)).add("b", "~".repeat(10_000)), true);
            pair.server.send(pair.nowNanos);
            pair.server.session.close(ErrorCode.INTERNAL, "");
            pair.drive();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.INTERNAL);
        }
    }

    @Test
    void lostConnectionLeavesNothingToSendOfAHeadThatHasBegun() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.open(Side.request("/" + "~".repeat(60_000)).add("b", "~".repeat(10_000)), true);
            pair.server.send(pair.nowNanos);
            assertThat(pair.server.session.hasFrames()).isTrue();

            pair.disconnect();

            assertThat(pair.server.session.hasFrames()).isFalse();
        }
    }

    @Test
    void closedSessionTakesNoFramesAndNoCommands() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.disconnect();
            long events = pair.server.events.size();

            pair.server.write(id, 100);
            pair.server.session.close(ErrorCode.INTERNAL, "");
            pair.server.session.goAway(ErrorCode.DRAINING, 0, "");
            pair.server.session.fail(ProtocolException.stream(id, ErrorCode.PROTOCOL, ""));
            pair.server.session.onDeadline(Long.MAX_VALUE);
            pair.server.drainEvents();

            assertThat(pair.server.events).hasSize((int) events);
            assertThat(pair.server.session.hasFrames()).isFalse();
        }
    }
}
