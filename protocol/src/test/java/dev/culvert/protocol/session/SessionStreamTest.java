package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.Opened;
import dev.culvert.protocol.session.SessionEvent.ResponseHead;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §5: the life of one stream. */
final class SessionStreamTest {

    @Test
    void smallExchangeLeavesInOneBatchEachWay() {
        try (SessionPair pair = SessionPair.live()) {
            long before = pair.client.out.batches();
            int id = pair.request();
            pair.client.respond(id, 200, false);
            pair.client.write(id, 200);
            pair.client.end(id);
            pair.drive();

            assertThat(pair.client.out.batches() - before).isEqualTo(1);
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(200);
            assertThat(pair.server.log(id).closed).isTrue();
            assertThat(pair.client.log(id).closed).isTrue();
            pair.assertIdle();
        }
    }

    @Test
    void responseMayEndBeforeTheRequest() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/upload", false);
            pair.server.write(id, 10);
            pair.drive();
            pair.client.respond(id, 200, true);
            pair.drive();
            assertThat(pair.server.session.streamCount()).isEqualTo(1);

            pair.server.write(id, 20);
            pair.server.end(id);
            pair.drive();

            assertThat(pair.client.log(id).receivedBytes).isEqualTo(30);
            pair.assertIdle();
        }
    }

    @Test
    void trailersEndTheirHalfBehindTheData() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/grpc", false);
            pair.server.write(id, 100_000);
            pair.server.session.end(id, Side.trailers("request"));
            pair.drive();
            pair.client.respond(id, 200, false);
            pair.client.write(id, 50_000);
            pair.client.session.end(id, Side.trailers("response"));
            pair.drive();

            assertThat(pair.client.log(id).trailers).hasToString(Side.trailers("request").toString());
            assertThat(pair.client.log(id).receivedBytes).isEqualTo(100_000);
            assertThat(pair.server.log(id).trailers).hasToString(Side.trailers("response").toString());
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(50_000);
            pair.assertIdle();
        }
    }

    @Test
    void emptyTrailersAreAPlainEnd() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.respond(id, 200, false);
            pair.client.session.end(id, Side.trailers("x").clear());
            pair.drive();

            assertThat(pair.server.log(id).trailers).isNull();
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void informationalHeadsComeBeforeTheFinalOne() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.respond(id, 103, false);
            pair.client.respond(id, 103, false);
            pair.client.respond(id, 204, true);
            pair.drive();

            assertThat(pair.server.log(id).heads).extracting(head -> head.status().toString())
                    .containsExactly("103", "103", "204");
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void aShortBodyFollowsTheFinalHead() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.respond(id, 103, false);
            pair.client.respond(id, 200, false);
            pair.client.write(id, 10);
            pair.client.end(id);
            pair.drive();

            assertThat(pair.server.log(id).heads).extracting(head -> head.status().toString())
                    .containsExactly("103", "200");
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(10);
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void switchingProtocolsIsAFinalHead() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.session.open(StreamKind.UPGRADE, Side.request("/ws"), HeadOptions.NONE,
                    false);
            pair.drive();
            assertThat(pair.client.last(Opened.class).kind()).isEqualTo(StreamKind.UPGRADE);
            pair.client.respond(id, 101, false);
            pair.client.write(id, 5);
            pair.server.write(id, 7);
            pair.drive();

            assertThat(pair.server.last(ResponseHead.class).informational()).isFalse();
            assertThat(pair.server.log(id).receivedBytes).isEqualTo(5);
            assertThat(pair.client.log(id).receivedBytes).isEqualTo(7);
        }
    }

    @Test
    void rawBytesCrossWhenBothSidesHaveThem() {
        try (SessionPair pair = new SessionPair(tcpHello(), tcpHello())) {
            pair.drive();
            assertThat(pair.server.session.bothCan(Hello.TCP)).isTrue();
            int id = pair.server.session.open(StreamKind.TCP,
                    new DefaultHttp2Headers().method("CONNECT").authority("db.a.example"), HeadOptions.NONE,
                    false);
            pair.server.write(id, 3);
            pair.drive();
            assertThat(pair.client.last(Opened.class).kind()).isEqualTo(StreamKind.TCP);
            pair.client.respond(id, 200, false);
            pair.client.write(id, 5);
            pair.client.end(id);
            pair.server.write(id, 4);
            pair.server.end(id);
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(5);
            assertThat(pair.client.log(id).receivedBytes).isEqualTo(7);
            assertThat(pair.client.log(id).closed).isTrue();
        }
    }

    @Test
    void aSideThatDoesNotSayThatItHasRawBytesHasNone() {
        Hello old = SessionPair.hello(1, 1, SessionLimits.defaults().accepts());
        try (SessionPair pair = new SessionPair(tcpHello(), old)) {
            pair.drive();

            assertThat(pair.server.session.bothCan(Hello.TCP)).isFalse();
        }
    }

    private static Hello tcpHello() {
        Hello usual = SessionPair.hello(1, 1, SessionLimits.defaults().accepts());
        return new Hello(1, 1, Hello.TCP, usual.instanceHigh(), usual.instanceLow(), usual.connection(),
                usual.takeOver(), usual.limits(), usual.nonce(), usual.software());
    }

    @Test
    void optionsRideBesideTheHeads() {
        try (SessionPair pair = SessionPair.live()) {
            HeadOptions asked = new HeadOptions(16 << 10, 5_000, new HeadOptions.Delivery(1, 2, 3), null,
                    true);
            HeadOptions answered = new HeadOptions(0, 0, null, new HeadOptions.Times(4, 5, 6), true);
            int id = pair.server.session.open(StreamKind.HTTP, Side.request("/"), asked, true);
            pair.drive();
            pair.client.session.respond(id, Side.response(200), answered, false, true);
            pair.drive();

            assertThat(pair.client.last(Opened.class).options()).isEqualTo(asked);
            assertThat(pair.server.last(ResponseHead.class).options()).isEqualTo(answered);
        }
    }

    @Test
    void resetFromEitherSideEndsTheStreamWithCodeCauseAndHop() {
        try (SessionPair pair = SessionPair.live()) {
            int first = pair.request();
            int second = pair.request();
            pair.client.session.reset(first, ErrorCode.FAILED, 8, 4, "connection refused");
            pair.server.session.reset(second, ErrorCode.CANCELLED, 0, 1, "");
            pair.drive();

            assertThat(pair.server.log(first).reset)
                    .isEqualTo(new StreamReset(first, ErrorCode.FAILED, 8, 4, "connection refused"));
            assertThat(pair.client.log(second).reset)
                    .isEqualTo(new StreamReset(second, ErrorCode.CANCELLED, 0, 1, ""));
            pair.assertIdle();
        }
    }

    @Test
    void resetDropsWhatWasQueued() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", false);
            pair.drive();
            pair.client.stall(id);
            pair.server.write(id, 900_000);
            pair.drive();
            assertThat(pair.server.session.bufferedBytes()).isEqualTo(900_000 - (256 << 10));
            assertThat(pair.client.session.bufferedBytes()).isEqualTo(256 << 10);

            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            pair.drive();

            pair.assertIdle();
        }
    }

    @Test
    void aStreamThatIsBrokenOffDeliversWhatWasQueued() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", false);
            pair.drive();
            pair.server.stall(id);
            pair.client.respond(id, 200, false);
            pair.client.write(id, 900_000);
            pair.client.session.breakOff(id, ErrorCode.FAILED, 9, 4, "reset by the upstream");
            pair.drive();
            assertThat(pair.server.log(id).reset).isNull();

            pair.server.resume(id);
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(900_000);
            assertThat(pair.server.log(id).ended).isFalse();
            assertThat(pair.server.log(id).reset)
                    .isEqualTo(new StreamReset(id, ErrorCode.FAILED, 9, 4, "reset by the upstream"));
            pair.assertIdle();
        }
    }

    @Test
    void aStreamIsBrokenOffBehindItsEnd() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", false);
            pair.drive();
            pair.client.respond(id, 200, false);
            pair.client.write(id, 900_000);
            pair.client.end(id);
            pair.client.session.breakOff(id, ErrorCode.FAILED, 9, 4, "");
            pair.drive();

            assertThat(pair.server.log(id).receivedBytes).isEqualTo(900_000);
            assertThat(pair.server.log(id).ended).isTrue();
            assertThat(pair.server.log(id).reset).isNotNull();
            pair.assertIdle();
        }
    }

    @Test
    void aPeerThatResetsABrokenOffStreamEndsIt() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", false);
            pair.drive();
            pair.server.stall(id);
            pair.client.respond(id, 200, false);
            pair.client.write(id, 900_000);
            pair.client.session.breakOff(id, ErrorCode.FAILED, 9, 4, "");
            pair.drive();

            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            pair.drive();

            pair.assertIdle();
        }
    }

    @Test
    void streamResetBeforeItWasSentNeverReachesTheWire() {
        try (SessionPair pair = SessionPair.live()) {
            long before = pair.server.out.bytes();
            int id = pair.server.open("/", true);
            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            pair.drive();

            assertThat(pair.server.out.bytes()).isEqualTo(before);
            pair.assertIdle();
        }
    }

    @Test
    void resetBehindBothEndsIsOfNoInterestToThePeer() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", false);
            pair.drive();
            pair.client.stall(id);
            pair.server.write(id, 100);
            pair.server.end(id);
            pair.drive();
            pair.client.respond(id, 200, true);
            pair.drive();
            assertThat(pair.client.session.streamCount()).as("its reader has not read").isEqualTo(1);
            long sent = pair.client.out.bytes();

            pair.client.session.reset(id, ErrorCode.FAILED, 0, 4, "");
            pair.drive();

            assertThat(pair.client.out.bytes()).isEqualTo(sent);
            assertThat(pair.server.log(id).reset).isNull();
            pair.assertIdle();
        }
    }

    @Test
    void commandsForAStreamThatIsGoneReleaseTheirBuffers() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.session.reset(id, ErrorCode.FAILED, 0, 4, "");
            pair.client.write(id, 100);
            pair.client.respond(id, 200, false);
            pair.client.end(id);
            pair.client.session.consumed(id, 5);
            pair.client.session.reset(id, ErrorCode.FAILED, 0, 4, "");
            pair.drive();

            assertThat(pair.server.count(StreamReset.class)).isEqualTo(1);
            pair.assertIdle();
        }
    }

    @Test
    void dataBeforeTheResponseHeadResetsTheStreamOnly() {
        try (SessionPair pair = SessionPair.live()) {
            int early = pair.request();
            int ended = pair.request();
            int good = pair.request();
            pair.client.write(early, 10);
            pair.client.end(ended);
            pair.client.respond(good, 200, true);
            pair.drive();

            assertThat(pair.client.log(early).resetCode()).isEqualTo(ErrorCode.INTERNAL);
            assertThat(pair.server.log(early).resetCode()).isEqualTo(ErrorCode.INTERNAL);
            assertThat(pair.server.log(ended).resetCode()).isEqualTo(ErrorCode.INTERNAL);
            assertThat(pair.server.log(good).closed).isTrue();
            pair.assertIdle();
        }
    }

    @Test
    void framesForAClosedStreamAreIgnored() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.respond(id, 200, true);
            pair.drive();

            handle(pair.client, new Frame.Data(id, bytes(10), false));
            handle(pair.client, new Frame.Grant(id, 10));
            handle(pair.client, new Frame.Reset(id, ErrorCode.CANCELLED, 0, 0, ""));
            pair.drive();

            assertThat(pair.client.session.isLive()).isTrue();
            assertThat(pair.client.count(StreamReset.class)).isZero();
        }
    }

    @Test
    void framesForAStreamThatNeverWasEndTheSession() {
        for (Frame frame : new Frame[]{new Frame.Data(9, bytes(1), true), new Frame.Grant(9, 1),
                new Frame.Reset(9, ErrorCode.CANCELLED, 0, 0, ""),
                new Frame.Head(9, FrameCodec.HEAD_LAST, StreamKind.HTTP, HeadOptions.NONE, bytes(1))}) {
            try (SessionPair pair = SessionPair.live()) {
                handle(pair.client, frame);

                assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
            }
        }
    }

    @Test
    void answerToAStreamThatIsNotOnTheWireYetEndsTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open("/", true);

            handle(pair.server, new Frame.Reset(id, ErrorCode.FAILED, 0, 0, ""));

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }

    @Test
    void dataAfterTheEndResetsItsStream() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();

            handle(pair.client, new Frame.Data(id, bytes(1), false));
            pair.drive();

            assertThat(pair.client.log(id).resetCode()).isEqualTo(ErrorCode.PROTOCOL);
            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.PROTOCOL);
            assertThat(pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void dataBeforeTheResponseHeadIsThePeersStreamError() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();

            handle(pair.server, new Frame.Data(id, bytes(1), false));
            pair.drive();

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.PROTOCOL);
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void clientThatOpensAStreamEndsTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            int flags = FrameCodec.HEAD_OPENS | FrameCodec.HEAD_LAST;
            handle(pair.server, new Frame.Head(1, flags, StreamKind.HTTP, HeadOptions.NONE, bytes(1)));

            assertThat(pair.server.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }

    @Test
    void lastStreamIdIsFollowedByAGoAway() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.session.session.lastStreamId = Integer.MAX_VALUE - 1;
            int id = pair.request();
            pair.client.respond(id, 200, true);
            pair.drive();

            assertThat(id).isEqualTo(Integer.MAX_VALUE);
            assertThat(pair.server.session.canOpen()).isFalse();
            assertThat(pair.client.last(SessionEvent.GoingAway.class).code()).isEqualTo(ErrorCode.DRAINING);
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    private static void handle(Side side, Frame frame) {
        side.session.handle(frame, 0);
        side.drainEvents();
    }

    private static ByteBuf bytes(int count) {
        return Unpooled.buffer().writeZero(count);
    }
}
