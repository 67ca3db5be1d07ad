package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.GoingAway;
import dev.culvert.protocol.session.SessionEvent.Leaving;
import dev.culvert.protocol.session.SessionEvent.Live;
import dev.culvert.protocol.session.SessionEvent.Opened;
import dev.culvert.protocol.session.SessionEvent.PeerHello;
import dev.culvert.protocol.session.SessionEvent.Waiting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** docs/protocol.md §4.3: sessions that wait. */
final class SessionStandbyTest {
    private static final Hello OLD = SessionPair.hello(1, 1, SessionLimits.defaults().accepts());
    private static final Hello SERVER = with(Hello.STANDBY | Hello.ANNOUNCE | Hello.AUTH, Hello.NO_STANDBY);
    private static final Hello CLIENT = with(Hello.STANDBY | Hello.ANNOUNCE | Hello.AUTH, 7);
    private static final int PING = 7;

    private static Hello with(long capabilities, int standby) {
        return new Hello(1, 1, capabilities, OLD.instanceHigh(), OLD.instanceLow(), 0, false, OLD.limits(),
                OLD.nonce(), OLD.software(), standby);
    }

    /** Two sessions of which the client's waits. */
    private static SessionPair waiting() {
        SessionPair pair = new SessionPair(SERVER, CLIENT);
        pair.server.onEvent = event -> {
            if (event instanceof PeerHello) {
                pair.server.session.await(1, 2, 3, "acme/prod", "h.example.com");
            }
        };
        pair.drive();
        return pair;
    }

    @Test
    void helloOfAClientThatWaitsIsAnsweredByWait() {
        try (SessionPair pair = waiting()) {
            assertThat(pair.server.last(PeerHello.class).hello().standby()).isEqualTo(7);
            assertThat(pair.client.last(Waiting.class))
                    .isEqualTo(new Waiting(1, 2, 3, "acme/prod", "h.example.com"));
            assertThat(pair.client.count(Live.class) + pair.server.count(Live.class)).isZero();
            assertThat(pair.server.session.isLive() || pair.client.session.isLive()).isFalse();
            assertThat(pair.server.session.canOpen()).isFalse();
        }
    }

    @Test
    void promotionIsLiveOnceTheClientHasAnswered() {
        try (SessionPair pair = waiting()) {
            pair.server.session.ready(1, 2, 4, "acme/prod", "h.example.com");
            pair.server.send(pair.nowNanos);
            assertThat(pair.server.session.isLive()).isFalse();
            pair.drive();

            Live live = new Live(1, 2, 4, "acme/prod", "h.example.com");
            assertThat(pair.client.last(Live.class)).isEqualTo(live);
            assertThat(pair.server.last(Live.class)).isEqualTo(live);
            pair.request();
            assertThat(pair.client.count(Opened.class)).isOne();
            pair.client.session.announce(new byte[1]);
            pair.drive();
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void nothingButHeartbeatsIsSentWhileItWaits() {
        List<Integer> types = new ArrayList<>();
        try (SessionPair pair = waiting()) {
            pair.client.tap = batch -> types.add((int) batch.getByte(batch.readerIndex()));
            pair.server.tap = pair.client.tap;
            pair.client.session.announce(new byte[1]);
            assertThat(pair.client.session.auth(new byte[]{1}, new byte[]{2})).isFalse();
            assertThat(pair.client.session.leave()).isFalse();
            pair.advance(Duration.ofHours(1));

            assertThat(types).isNotEmpty().containsOnly(PING);
            assertThat(pair.server.session.isClosed() || pair.client.session.isClosed()).isFalse();
        }
    }

    @Test
    void silenceEndsASessionThatWaits() {
        try (SessionPair pair = waiting()) {
            pair.client.out.lose();
            pair.advance(Duration.ofSeconds(14));

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.TIMEOUT);
        }
    }

    @Test
    void streamThatIsOpenedOnASessionThatWaitsIsRefused() {
        try (SessionPair pair = waiting()) {
            new RawHeads(pair).toClient(1, FrameCodec.HEAD_OPENS | FrameCodec.END, Side.request("/"));

            assertThat(pair.client.count(Opened.class)).isZero();
            ByteBuf out = Unpooled.buffer();
            assertThat(pair.client.session.pollFrame(out)).isTrue();
            assertThat(FrameCodec.decode(out)).isInstanceOfSatisfying(Frame.Reset.class,
                    reset -> assertThat(reset.code()).isEqualTo(ErrorCode.REFUSED));
            assertThat(pair.client.session.isClosed()).isFalse();
        }
    }

    static List<Frame> misdeeds() {
        Frame.Ready ready = new Frame.Ready(1, 2, 3, "a/b", "c");
        return List.of(new Frame.Leave(), new Frame.ReadyAck(), new Frame.Grant(0, 1), ready,
                new Frame.Wait(ready), new Frame.Auth(new byte[]{1}, new byte[]{1}),
                new Frame.Announce(new byte[1], true), new Frame.OpeningHello(CLIENT),
                new Frame.Reset(1, ErrorCode.CANCELLED, 0, 0, ""));
    }

    @ParameterizedTest
    @MethodSource("misdeeds")
    void clientThatWaitsAndSendsMoreThanHeartbeatsIsClosed(Frame misdeed) {
        try (SessionPair pair = waiting()) {
            pair.server.session.handle(misdeed, pair.nowNanos);
            pair.drive();

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }

    @Test
    void serverThatPromotesAfterAGoAwayIsNotAnswered() {
        try (SessionPair pair = waiting()) {
            pair.server.session.goAway(ErrorCode.DRAINING, 5, "the server stops");
            pair.server.session.ready(1, 2, 4, "acme/prod", "h.example.com");
            pair.drive();

            assertThat(pair.client.last(GoingAway.class).delayMillis()).isEqualTo(5);
            assertThat(pair.client.count(Live.class)).isZero();
        }
    }

    @Test
    void leaveIsToldOnce() {
        try (SessionPair pair = new SessionPair(SERVER, CLIENT)) {
            pair.drive();
            assertThat(pair.client.session.leave()).isTrue();
            assertThat(pair.client.session.leave()).isTrue();
            pair.drive();
            pair.server.session.handle(new Frame.Leave(), pair.nowNanos);
            pair.drive();

            assertThat(pair.server.count(Leaving.class)).isOne();
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void peersWithoutTheCapabilitySeeNothingOfIt() {
        try (SessionPair pair = new SessionPair(with(0, Hello.NO_STANDBY), CLIENT)) {
            pair.server.onEvent = event -> {
                if (event instanceof PeerHello hello) {
                    assertThat(hello.hello().waits()).isFalse();
                    pair.server.session.await(1, 2, 3, "a/b", "c"); // has no effect
                    pair.server.session.ready(1, 2, 3, "a/b", "c");
                }
            };
            pair.drive();

            assertThat(pair.client.session.isLive() && pair.server.session.isLive()).isTrue();
            assertThat(pair.client.session.leave()).isFalse();
            pair.server.session.handle(new Frame.Leave(), pair.nowNanos);
            pair.drive();
            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }

    @Test
    void serverThatLetsAClientWaitUnaskedIsLeft() {
        try (SessionPair pair = new SessionPair(SERVER, with(Hello.STANDBY, Hello.NO_STANDBY))) {
            pair.server.onEvent = event -> {
                if (event instanceof PeerHello) {
                    pair.server.session.await(1, 2, 3, "a/b", "c");
                }
            };
            pair.drive();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }
}
