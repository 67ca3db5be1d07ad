package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.session.SessionEvent.Announced;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents that the client announces (docs/protocol.md §4.2). */
class SessionAnnounceTest {
    private static final Hello OLD = SessionPair.hello(1, 1, SessionLimits.defaults().accepts());
    private static final Hello USUAL = new Hello(1, 1, Hello.ANNOUNCE, OLD.instanceHigh(), OLD.instanceLow(),
            OLD.connection(), OLD.takeOver(), OLD.limits(), OLD.nonce(), OLD.software());

    private static byte[] document(int bytes) {
        byte[] document = new byte[bytes];
        new Random(bytes).nextBytes(document);
        return document;
    }

    /** What the server is told from now on. */
    private static List<byte[]> heard(SessionPair pair) {
        pair.drive();
        List<byte[]> heard = new ArrayList<>();
        pair.server.onEvent = event -> {
            if (event instanceof Announced announced) {
                heard.add(announced.document());
            }
        };
        return heard;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16_376, 16_377, Announcements.MAX})
    void arrivesWhole(int bytes) {
        try (SessionPair pair = new SessionPair(USUAL, USUAL)) {
            List<byte[]> heard = heard(pair);
            pair.client.session.announce(document(bytes));
            pair.drive();

            assertThat(heard).containsExactly(document(bytes));
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void ofSeveralThatWaitTheNewestIsSentBehindTheOneThatHasBegun() {
        try (SessionPair pair = new SessionPair(USUAL, USUAL)) {
            List<byte[]> heard = heard(pair);
            pair.client.session.announce(document(100_000));
            pair.client.send(pair.nowNanos);
            pair.client.session.announce(document(1));
            pair.client.session.announce(document(2));
            pair.drive();

            assertThat(heard).containsExactly(document(100_000), document(2));
        }
    }

    @Test
    void moreThanTheBoundIsAnErrorOfTheSession() {
        try (SessionPair pair = new SessionPair(USUAL, USUAL)) {
            List<byte[]> heard = heard(pair);
            pair.client.session.announce(document(Announcements.MAX + 1));
            pair.drive();

            assertThat(heard).isEmpty();
            assertThat(pair.server.last(SessionEvent.Closed.class).code()).isEqualTo(ErrorCode.FRAME_SIZE);
        }
    }

    @Test
    void aServerWithoutTheCapabilityIsToldNothing() {
        try (SessionPair pair = new SessionPair(OLD, USUAL)) {
            List<byte[]> heard = heard(pair);
            pair.client.session.announce(document(1));
            pair.drive();

            assertThat(heard).isEmpty();
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void whoMayNotAnnounceAndDoesBreaksTheProtocol() {
        try (SessionPair pair = new SessionPair(OLD, OLD)) {
            pair.drive();
            pair.server.session.handle(new Frame.Announce(document(1), true), pair.nowNanos);
            pair.drive();

            assertThat(pair.server.last(SessionEvent.Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }
}
