package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.SessionEvent.Closed;
import dev.culvert.protocol.session.SessionEvent.Opened;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/protocol.md §5: heads that break the rules, and what that costs. */
final class SessionHeadFaultTest {
    private static final int OPENS = FrameCodec.HEAD_OPENS | FrameCodec.END;

    @Test
    void anotherFrameAmongThoseOfAHeadEndsTheSession() {
        for (Frame interrupting : List.of(new Frame.Ping(1, false), new Frame.Skipped(0x80),
                new Frame.Grant(0, 1))) {
            try (SessionPair pair = SessionPair.live()) {
                pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_OPENS, 10), 0);
                pair.client.session.handle(interrupting, 0);
                pair.client.drainEvents();

                assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
            }
        }
    }

    @Test
    void continuationWithoutAHeadOrOfAnotherStreamEndsTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_MORE, 10), 0);
            pair.client.drainEvents();
            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
        try (SessionPair pair = SessionPair.live()) {
            pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_OPENS, 10), 0);
            pair.client.session.handle(RawHeads.part(pair, 2, FrameCodec.HEAD_MORE, 10), 0);
            pair.client.drainEvents();
            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.PROTOCOL);
        }
    }

    /** RFC 7541 §4.2: each makes the decoder reallocate its table. */
    @Test
    void moreThanTwoTableSizeUpdatesEndTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            Frame.Head head = new Frame.Head(1, OPENS | FrameCodec.HEAD_LAST, StreamKind.HTTP,
                    HeadOptions.NONE,
                    pair.allocator.heapBuffer().writeBytes(new byte[]{0x20, 0x21, 0x20}));

            pair.client.session.handle(head, 0);
            pair.client.drainEvents();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.COMPRESSION);
        }
    }

    @Test
    void sessionMayEndInTheMiddleOfAHead() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_OPENS, 10), 0);
            pair.client.session.close(ErrorCode.INTERNAL, "");
            pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_MORE, 10), 0);
        }
    }

    @Test
    void headOverTheLimitWhenEncodedEndsTheSession() {
        try (SessionPair pair = SessionPair.live(SessionPair.heads(72 << 10, 132, 4096))) {
            pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_OPENS, 16_000), 0);
            for (int i = 0; i < 4; i++) {
                assertThat(pair.client.session.isLive()).isTrue();
                pair.client.session.handle(RawHeads.part(pair, 1, FrameCodec.HEAD_MORE, 16_000), 0);
            }
            pair.client.drainEvents();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.HEAD_TOO_LARGE);
        }
    }

    @Test
    void oneFrameOverATinyLimitEndsTheSession() {
        try (SessionPair pair = SessionPair.live(SessionPair.heads(100, 10, 4096))) {
            pair.client.session
                    .handle(RawHeads.part(pair, 1, FrameCodec.HEAD_OPENS | FrameCodec.HEAD_LAST, 101), 0);
            pair.client.drainEvents();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.HEAD_TOO_LARGE);
        }
    }

    @Test
    void headOverTheLimitWhenDecodedResetsItsStreamAndKeepsTheCompressionInOrder() {
        try (SessionPair pair = SessionPair.live(SessionPair.heads(1_000, 10, 4096))) {
            RawHeads raw = new RawHeads(pair);
            Http2Headers repeated = common();
            for (int i = 0; i < 8; i++) {
                repeated.add("x-repeated", "v".repeat(150));
            }
            raw.toClient(1, OPENS, repeated);
            raw.toClient(2, OPENS, common().add("x-repeated", "v".repeat(150)));

            assertThat(pair.client.count(Opened.class)).isEqualTo(1);
            assertThat(pair.client.last(Opened.class).head().get("x-repeated")).hasToString("v".repeat(150));
            assertThat(pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void headWithTooManyFieldsResetsItsStream() {
        try (SessionPair pair = SessionPair.live(SessionPair.heads(72 << 10, 10, 4096))) {
            RawHeads raw = new RawHeads(pair);
            Http2Headers many = common();
            while (many.size() < 11) {
                many.add("n" + many.size(), "v");
            }
            List<Frame> answers = RawHeads.frames(pair.client);
            raw.toClient(1, OPENS, many);
            raw.toClient(2, OPENS, Side.request("/"));
            pair.client.send(pair.nowNanos);

            assertThat(answers).containsExactly(new Frame.Reset(1, ErrorCode.HEAD_TOO_LARGE, 0, 2, ""));
            assertThat(pair.client.last(Opened.class).streamId()).isEqualTo(2);
        }
    }

    @Test
    void dataBehindARequestHeadThatIsRefusedIsIgnored() {
        try (SessionPair pair = SessionPair.live(SessionPair.heads(300, 10, 4096))) {
            RawHeads raw = new RawHeads(pair);
            raw.toClient(1, FrameCodec.HEAD_OPENS, common().add("x", "v".repeat(200)));
            pair.client.session.handle(new Frame.Data(1, pair.allocator.heapBuffer().writeByte(1), false), 0);
            raw.toClient(1, FrameCodec.HEAD_TRAILERS | FrameCodec.END, Side.trailers("v"));
            raw.toClient(2, OPENS, Side.request("/"));

            assertThat(pair.client.last(Opened.class).streamId()).isEqualTo(2);
            assertThat(pair.client.session.isLive()).isTrue();
        }
    }

    @Test
    void brokenCompressionEndsTheSession() {
        try (SessionPair pair = SessionPair.live()) {
            ByteBuf block = pair.allocator.heapBuffer()
                    .writeByte(0xff)
                    .writeByte(0xff)
                    .writeByte(0xff)
                    .writeByte(0x0f);
            pair.client.session.handle(new Frame.Head(1, OPENS | FrameCodec.HEAD_LAST, StreamKind.HTTP,
                    HeadOptions.NONE, block), 0);
            pair.client.drainEvents();

            assertThat(pair.client.last(Closed.class).code()).isEqualTo(ErrorCode.COMPRESSION);
        }
    }

    @Test
    void invalidHeadsResetTheirStreamsOnly() {
        List<Http2Headers> invalid = List.of(Side.response(200), loose().add("x", "y"),
                loose().add(":method", "GET").add(":unknown", "x"),
                loose().add(":method", "GET").add("X-Upper", "x"),
                loose().add(":method", "GET").add("connection", "close"),
                loose().add(":method", "GET").add("transfer-encoding", "chunked"),
                loose().add(":method", "GET").add("te", "gzip"),
                loose().add(":method", "GET").add(":method", "GET"),
                loose().add(":method", "GET").add("x", "a\r\nb"));
        for (Http2Headers head : invalid) {
            try (SessionPair pair = SessionPair.live()) {
                RawHeads raw = new RawHeads(pair);
                List<Frame> answers = RawHeads.frames(pair.client);
                raw.toClient(1, OPENS, head);
                raw.toClient(2, OPENS, Side.request("/"));
                pair.client.send(pair.nowNanos);

                assertThat(answers).as("%s", head)
                        .containsExactly(new Frame.Reset(1, ErrorCode.PROTOCOL, 0, 2, ""));
                assertThat(pair.client.last(Opened.class).streamId()).isEqualTo(2);
            }
        }
    }

    @Test
    void unknownKindOrOptionResetsTheStreamAsUnsupported() {
        HeadOptions unknown = new HeadOptions(0, 0, null, null, false);
        try (SessionPair pair = SessionPair.live()) {
            RawHeads raw = new RawHeads(pair);
            List<Frame> answers = RawHeads.frames(pair.client);
            int flags = OPENS | FrameCodec.HEAD_LAST;
            pair.client.session.handle(
                    new Frame.Head(1, flags, null, HeadOptions.NONE, raw.block(Side.request("/"))),
                    0);
            pair.client.session.handle(
                    new Frame.Head(2, flags, StreamKind.TCP, HeadOptions.NONE, raw.block(Side.request("/"))),
                    0);
            pair.client.session
                    .handle(new Frame.Head(3, flags, StreamKind.HTTP, unknown, raw.block(Side.request("/"))),
                            0);
            pair.client.send(pair.nowNanos);

            assertThat(answers).containsExactly(new Frame.Reset(1, ErrorCode.UNSUPPORTED, 0, 2, ""),
                    new Frame.Reset(2, ErrorCode.UNSUPPORTED, 0, 2, ""),
                    new Frame.Reset(3, ErrorCode.UNSUPPORTED, 0, 2, ""));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "20", "2000", "099", "abc", "2x0", "²00"})
    void responseWithoutAValidStatusResetsItsStream(String status) {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            new RawHeads(pair).toServer(id, 0,
                    loose().add(":status", status));

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.PROTOCOL);
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    @Test
    void headsOutOfPlaceResetTheirStream() {
        int trailers = FrameCodec.HEAD_TRAILERS | FrameCodec.END;
        assertResponseFault(List.of(200, 200), List.of(0, 0), List.of());
        assertResponseFault(List.of(103), List.of(FrameCodec.END), List.of());
        assertResponseFault(List.of(), List.of(trailers), List.of(Side.trailers("x")));
        assertResponseFault(List.of(200), List.of(0, FrameCodec.HEAD_TRAILERS), List.of(Side.trailers("x")));
        assertResponseFault(List.of(200), List.of(0, trailers), List.of(Side.response(200)));
        assertResponseFault(List.of(200), List.of(FrameCodec.END, trailers), List.of(Side.trailers("x")));
    }

    /** Response heads with these statuses, then these trailers, with those flags, end in a stream error. */
    private static void assertResponseFault(List<Integer> statuses, List<Integer> flags,
            List<Http2Headers> trailers) {
        try (SessionPair pair = SessionPair.live()) {
            RawHeads raw = new RawHeads(pair);
            int id = pair.server.open("/", false);
            pair.drive();
            List<Http2Headers> heads = new ArrayList<>();
            statuses.forEach(status -> heads.add(Side.response(status)));
            heads.addAll(trailers);
            for (int i = 0; i < heads.size(); i++) {
                assertThat(pair.server.log(id).reset).isNull();
                raw.toServer(id, flags.get(i), heads.get(i));
            }

            assertThat(pair.server.log(id).resetCode()).isEqualTo(ErrorCode.PROTOCOL);
            assertThat(pair.server.session.isLive()).isTrue();
        }
    }

    private static Http2Headers common() {
        return Side.request("/some/path").add("user-agent", "test/1.0 with a long name").add("accept", "*/*");
    }

    private static Http2Headers loose() {
        return new DefaultHttp2Headers(false);
    }
}
