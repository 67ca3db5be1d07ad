package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.session.Session.Role;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.Live;
import dev.culvert.protocol.session.SessionEvent.PeerHello;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §4: how a session opens, or does not. */
final class SessionOpeningTest {
    private static final SessionLimits LIMITS = SessionLimits.defaults();

    @Test
    void hellosAndReadyMakeBothSidesLive() {
        try (SessionPair pair = new SessionPair()) {
            pair.drive();

            assertThat(pair.client.last(Live.class)).isEqualTo(new Live(1, 2, 3, "acme/prod",
                    "acme-prod.tunnels.example.com"));
            assertThat(pair.server.last(PeerHello.class).hello().software()).isEqualTo("culvert test");
            assertThat(pair.server.session.isLive() && pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void clientAnswersWithTheHighestVersionOfBoth() {
        try (SessionPair pair = new SessionPair(SessionPair.hello(1, 3, LIMITS.accepts()),
                SessionPair.hello(2, 5, LIMITS.accepts()))) {
            pair.drive();

            assertThat(pair.server.last(PeerHello.class).hello())
                    .extracting("minVersion", "maxVersion")
                    .containsExactly(3, 3);
            assertThat(pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void versionsWithoutACommonOneEndTheSessionAsUnsupported() {
        try (SessionPair pair = new SessionPair(SessionPair.hello(1, 2, LIMITS.accepts()),
                SessionPair.hello(3, 4, LIMITS.accepts()))) {
            pair.drive();

            assertThat(pair.client.last(Closed.class))
                    .extracting("code", "byPeer")
                    .containsExactly(ErrorCode.UNSUPPORTED, false);
            assertThat(pair.server.last(Closed.class))
                    .extracting("code", "byPeer")
                    .containsExactly(ErrorCode.UNSUPPORTED, true);
        }
    }

    @Test
    void clientThatSaysARangeIsRefused() {
        assertFaultOfClientWhileOpening(new Frame.OpeningHello(SessionPair.hello(1, 2, LIMITS.accepts())),
                ErrorCode.UNSUPPORTED);
    }

    @Test
    void streamFramesBeforeReadyEndTheSession() {
        assertFaultOfClientWhileOpening(new Frame.Data(1, Unpooled.buffer().writeByte(1), true),
                ErrorCode.PROTOCOL);
        assertFaultOfClientWhileOpening(new Frame.Grant(0, 1), ErrorCode.PROTOCOL);
        assertFaultOfClientWhileOpening(new Frame.Ready(1, 2, 3, "a/b", "c"), ErrorCode.PROTOCOL);
    }

    @Test
    void secondHelloEndsTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.session.handle(new Frame.OpeningHello(SessionPair.hello(1, 1, LIMITS.accepts())),
                    pair.nowNanos);
            pair.drive();

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
            assertThat(pair.client.last(Closed.class).byPeer()).isTrue();
        }
    }

    @Test
    void readyOutsideOfTheOpeningEndsTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.session.handle(new Frame.Ready(1, 2, 3, "a/b", "c"), pair.nowNanos);
            pair.drive();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }

    @Test
    void serverMayRefuseTheClientInsteadOfReady() {
        try (SessionPair pair = new SessionPair()) {
            pair.server.onEvent = event -> {
                if (event instanceof PeerHello) {
                    pair.server.session.close(ErrorCode.CONFLICT, "another instance owns the runtime");
                }
            };
            pair.drive();

            assertThat(pair.client.last(Closed.class))
                    .isEqualTo(new Closed(ErrorCode.CONFLICT, "another instance owns the runtime", true));
        }
    }

    @Test
    void openingThatTakesTooLongEndsAtItsDeadline() {
        Session client = new Session(Role.CLIENT, SessionPair.hello(1, 1, LIMITS.accepts()), LIMITS,
                WindowAccount.NONE, () -> 0);
        long deadline = Duration.ofSeconds(10).toNanos();
        assertThat(client.nextDeadlineNanos()).isEqualTo(deadline);

        client.onDeadline(deadline - 1);
        assertThat(client.isClosed()).isFalse();
        client.onDeadline(deadline);

        assertThat(client.pollEvent()).isInstanceOfSatisfying(Closed.class,
                closed -> assertThat(closed.code()).isEqualTo(ErrorCode.TIMEOUT));
        assertThat(client.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void lostLinkDuringTheOpeningEndsBothSides() {
        try (SessionPair pair = new SessionPair()) {
            pair.server.out.lose();
            pair.advance(Duration.ofSeconds(10));

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.TIMEOUT);
            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.TIMEOUT);
        }
    }

    private static void assertFaultOfClientWhileOpening(Frame frame, ErrorCode expected) {
        Session server = new Session(Role.SERVER, SessionPair.hello(1, 1, LIMITS.accepts()), LIMITS,
                WindowAccount.NONE, () -> 0);

        server.handle(frame, 0);

        assertThat(server.pollEvent()).isInstanceOfSatisfying(Closed.class,
                closed -> assertThat(closed.code()).isEqualTo(expected));
        ByteBuf last = Unpooled.buffer();
        assertThat(server.pollFrame(last)).isTrue();
        assertThat(server.pollFrame(last)).isFalse();
        assertThat(last.getByte(0)).as("GOAWAY").isEqualTo((byte) 8);
    }
}
