package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §9: heartbeats in virtual time. */
final class SessionHeartbeatTest {

    @Test
    void silentLinkEndsBothSessionsWithinFourteenSeconds() {
        for (int second = 0; second < 20; second++) {
            try (SessionPair pair = SessionPair.live()) {
                pair.advance(Duration.ofSeconds(second).plusMillis(1));
                pair.server.out.lose();
                pair.client.out.lose();
                pair.advance(Duration.ofSeconds(14));

                assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.TIMEOUT);
                assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.TIMEOUT);
            }
        }
    }

    @Test
    void linkLostInOneDirectionEndsBothSessions() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.out.lose();
            pair.advance(Duration.ofSeconds(14));

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.TIMEOUT);
            assertThat(pair.server.last(Closed.class))
                    .extracting("code", "byPeer")
                    .containsExactly(ErrorCode.TIMEOUT, true);
        }
    }

    @Test
    void sessionIsNotGivenUpBeforeItsPingHadFiveSeconds() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.out.lose();
            pair.client.out.lose();
            pair.advance(Duration.ofMillis(13_999));

            assertThat(pair.server.session.isLive() && pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void answeredHeartbeatsKeepAnIdleSessionForDays() {
        try (SessionPair pair = SessionPair.live().latency(Duration.ofSeconds(2))) {
            pair.advance(Duration.ofDays(2));

            assertThat(pair.server.session.isLive() && pair.client.session.isLive()).isTrue();
            assertThat(pair.server.session.rttNanos()).isEqualTo(Duration.ofSeconds(4).toNanos());
            assertThat(pair.client.session.rttNanos()).isEqualTo(Duration.ofSeconds(4).toNanos());
        }
    }

    @Test
    void anyByteReceivedKeepsTheLinkAlive() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.out.lose();
            pair.server.out.lose();
            for (int second = 0; second < 600; second++) {
                pair.advance(Duration.ofSeconds(1));
                pair.server.session.received(); // half of a message, a WebSocket ping
            }
            assertThat(pair.server.session.isLive()).isTrue();
            assertThat(pair.client.session.isClosed()).isTrue();

            pair.advance(Duration.ofSeconds(14));

            assertThat(pair.server.session.isClosed()).isTrue();
        }
    }

    @Test
    void pingsOfAPeerWhoseOwnAnswersAreLateAreEnough() {
        try (SessionPair pair = SessionPair.live().latency(Duration.ofSeconds(4))) {
            pair.server.out.latency(Duration.ZERO);
            pair.advance(Duration.ofMinutes(10));

            assertThat(pair.server.session.isLive() && pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void ackThatAnswersNoPingTellsNoTime() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.session.handle(new Frame.Ping(0, true), pair.nowNanos);
            assertThat(pair.server.session.rttNanos()).isEqualTo(-1);

            pair.advance(Duration.ofSeconds(9));
            assertThat(pair.server.session.rttNanos()).isZero();
            pair.server.session.handle(new Frame.Ping(pair.nowNanos, true), pair.nowNanos + 5);

            assertThat(pair.server.session.rttNanos()).as("the first ACK counts").isZero();
        }
    }

    @Test
    void deadSessionResetsItsStreamsAsLost() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.server.out.lose();
            pair.client.out.lose();
            pair.advance(Duration.ofSeconds(14));

            int tunnelLost = 7;
            assertThat(pair.server.log(id).reset).isEqualTo(
                    new StreamReset(id, ErrorCode.TIMEOUT, tunnelLost, 2, "the tunnel's connection ended"));
        }
    }
}
