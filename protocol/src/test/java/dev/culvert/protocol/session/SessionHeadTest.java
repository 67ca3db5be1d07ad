package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.session.SessionEvent.Opened;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/protocol.md §5: heads, HPACK and its state. */
final class SessionHeadTest {
    private static final int HEAD_BYTES = 72 << 10;
    private static final int HEAD_FIELDS = 132;
    /** '~' has the longest Huffman code, so that nothing is compressed. */
    private static final String LONG = "~".repeat(10_000);

    @Test
    void repeatedHeadsShrink() {
        try (SessionPair pair = SessionPair.live()) {
            long empty = pair.server.out.bytes();
            pair.server.open(common(), true);
            pair.drive();
            long first = pair.server.out.bytes() - empty;
            pair.server.open(common(), true);
            pair.drive();
            long second = pair.server.out.bytes() - empty - first;

            assertThat(second).isLessThan(20).isLessThan(first / 3);
            assertThat(pair.client.last(Opened.class).head()).hasToString(common().toString());
        }
    }

    @Test
    void secretsAreNeverIndexed() {
        for (String name : List.of("authorization", "proxy-authorization", "cookie", "set-cookie")) {
            try (SessionPair pair = SessionPair.live()) {
                String secret = "s3cr3t-" + name;
                List<String> sent = new ArrayList<>();
                pair.server.tap = batch -> sent
                        .add(batch.toString(StandardCharsets.ISO_8859_1));
                for (int i = 0; i < 3; i++) {
                    pair.server.open(common().add(name, secret), true);
                    pair.drive();
                }

                assertThat(sent).hasSize(3).allMatch(batch -> batch.contains(secret));
            }
        }
    }

    @Test
    void largeHeadIsSplitOverFramesAndBatches() {
        try (SessionPair pair = SessionPair.live()) {
            List<Frame> frames = RawHeads.frames(pair.server);
            Http2Headers head = large(7);
            int id = pair.server.open(head, false);
            pair.server.write(id, 10);
            pair.server.end(id);
            pair.drive();

            List<Integer> flags = frames.stream()
                    .filter(Frame.Head.class::isInstance)
                    .map(frame -> ((Frame.Head) frame).flags())
                    .toList();
            assertThat(flags).hasSizeGreaterThan(4)
                    .startsWith(FrameCodec.HEAD_OPENS)
                    .endsWith(FrameCodec.HEAD_MORE | FrameCodec.HEAD_LAST);
            assertThat(flags.subList(1, flags.size() - 1)).containsOnly(FrameCodec.HEAD_MORE);
            assertThat(pair.server.out.batches()).as("hello, ready, head").isGreaterThanOrEqualTo(4);
            assertThat(pair.client.last(Opened.class).head()).hasToString(head.toString());
            assertThat(pair.client.log(id).ended).isTrue();
        }
    }

    @Test
    void headThatHasBegunComesFirstInTheNextBatch() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.server.open(large(7), true);
            pair.server.send(pair.nowNanos);
            List<Frame> frames = new ArrayList<>();
            pair.server.tap = batch -> RawHeads.decode(batch, frames);
            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            pair.drive();

            assertThat(frames.get(0)).isInstanceOfSatisfying(Frame.Head.class,
                    head -> assertThat(head.has(FrameCodec.HEAD_MORE)).isTrue());
            assertThat(frames.get(1)).isInstanceOf(Frame.Reset.class);
            assertThat(pair.client.count(Opened.class)).isEqualTo(2);
        }
    }

    @Test
    void endThatRidesOnAHeadIsNotSentAgainForAGrantInBetween() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.request();
            pair.client.session.respond(id, Side.response(200)
                    .add("a", LONG + LONG + LONG)
                    .add("b", LONG + LONG + LONG)
                    .add("c", LONG), HeadOptions.NONE, false, true);
            List<Frame> frames = RawHeads.frames(pair.client);
            pair.client.send(pair.nowNanos);
            pair.client.session.handle(new Frame.Grant(id, 1), pair.nowNanos);
            pair.drive();

            assertThat(frames).hasSizeGreaterThan(4).allMatch(Frame.Head.class::isInstance);
            assertThat(pair.server.log(id).closed).isTrue();
        }
    }

    @Test
    void streamResetWhileItsHeadIsHalfSentKeepsTheCompressionInOrder() {
        try (SessionPair pair = SessionPair.live()) {
            int id = pair.server.open(large(7), true);
            pair.server.send(pair.nowNanos);
            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            pair.server.open(common(), true);
            pair.drive();

            assertThat(pair.client.log(id).resetCode()).isEqualTo(ErrorCode.CANCELLED);
            assertThat(pair.client.last(Opened.class).head()).hasToString(common().toString());
        }
    }

    /** Its id counts as opened: what follows on it is for a closed stream. */
    @Test
    void headsOfResetStreamsAreStillDecoded() {
        try (SessionPair pair = SessionPair.live()) {
            RawHeads raw = new RawHeads(pair);
            int id = pair.request();
            int other = pair.request();
            pair.server.session.reset(id, ErrorCode.CANCELLED, 0, 1, "");
            raw.toServer(id, 0, Side.response(200).add("x-new", "value"));
            raw.toServer(other, FrameCodec.END,
                    Side.response(200).add("x-new", "value"));

            assertThat(pair.server.log(other).heads.getFirst().get("x-new")).hasToString("value");
            assertThat(pair.server.log(id).heads).isEmpty();
        }
    }

    @Test
    void headsOfRefusedStreamsAreStillDecodedAndTheirDataIgnored() {
        try (SessionPair pair = SessionPair.live()) {
            pair.client.out.lose(); // the server is to know nothing of the refusal
            pair.client.session.goAway(ErrorCode.DRAINING, 0, "");
            pair.drive();
            for (int i = 0; i < 50; i++) {
                int id = pair.server.open(common().add("x-" + i, "v" + i), false);
                pair.server.write(id, 10);
                pair.server.session.end(id, Side.trailers("t" + i));
            }
            pair.drive();

            assertThat(pair.client.session.isLive()).isTrue();
            assertThat(pair.client.count(Opened.class)).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 32, 100, 2_048, 4_096, 8_192, 65_536})
    void everySizeOfTheHpackTableWorksAgainstEveryOther(int clientTable) {
        for (int serverTable : new int[]{0, 64, 4_096, 65_536}) {
            try (SessionPair pair = SessionPair.live(SessionPair.heads(HEAD_BYTES, HEAD_FIELDS, serverTable),
                    SessionPair.heads(HEAD_BYTES, HEAD_FIELDS, clientTable))) {
                for (int i = 0; i < 200; i++) {
                    Http2Headers head = common().add("x-" + i % 7, "value " + i % 11).add("cookie", "c" + i);
                    int id = pair.server.open(head, true);
                    pair.drive();
                    pair.client.session.respond(id, Side.response(200).add("y-" + i % 5, "value " + i % 13),
                            HeadOptions.NONE, false, true);
                    pair.drive();
                    assertThat(pair.client.last(Opened.class).head()).hasToString(head.toString());
                    assertThat(pair.server.log(id).closed).isTrue();
                }
            }
        }
    }

    @Test
    void headThatThePeerDoesNotTakeIsNotSent() {
        Limits tiny = SessionPair.heads(200, 6, 4096);
        try (SessionPair pair = SessionPair.live(tiny, tiny)) {
            assertThat(pair.server.open(Side.request("/" + "x".repeat(100)), true)).isZero();
            assertThat(pair.server.open(Side.request("/").add("a", "").add("b", "").add("c", ""), true))
                    .isZero();
            int id = pair.request();
            pair.client.session.respond(id, Side.response(200).add("a", "x".repeat(200)), HeadOptions.NONE,
                    false, true);
            pair.drive();

            int badResponse = 11;
            assertThat(pair.server.log(id).reset).extracting("code", "cause", "hop")
                    .containsExactly(ErrorCode.FAILED, badResponse, 4);
            assertThat(pair.client.log(id).resetCode()).as("the client's application is told")
                    .isEqualTo(ErrorCode.FAILED);
            pair.assertIdle();
        }
    }

    @Test
    void trailersThatThePeerDoesNotTakeResetTheStreamRatherThanEndIt() {
        Limits tiny = SessionPair.heads(200, 6, 4096);
        try (SessionPair pair = SessionPair.live(tiny, tiny)) {
            int response = pair.request();
            pair.client.respond(response, 200, false);
            pair.client.session.end(response, Side.trailers("x".repeat(200)));
            int request = pair.server.open("/", false);
            pair.drive();
            pair.server.session.end(request, Side.trailers("x".repeat(200)));
            pair.drive();

            assertThat(pair.server.log(response).resetCode()).isEqualTo(ErrorCode.FAILED);
            assertThat(pair.client.log(response).resetCode()).isEqualTo(ErrorCode.FAILED);
            assertThat(pair.server.log(request).resetCode()).isEqualTo(ErrorCode.HEAD_TOO_LARGE);
            assertThat(pair.client.log(request).resetCode()).isEqualTo(ErrorCode.HEAD_TOO_LARGE);
        }
    }

    @Test
    void headAtTheLimitOfThePeerPasses() {
        Limits tiny = SessionPair.heads(1_000, 5, 0);
        try (SessionPair pair = SessionPair.live(tiny, tiny)) {
            Http2Headers head = Side.request("/");
            int used = size(head) + "x".length() + 32;
            head.add("x", "~".repeat(1_000 - used));
            assertThat(size(head)).isEqualTo(1_000);
            int id = pair.server.open(head, true);
            pair.drive();

            assertThat(id).isPositive();
            assertThat(pair.client.last(Opened.class).head()).hasToString(head.toString());
        }
    }

    private static Http2Headers common() {
        return Side.request("/some/path").add("user-agent", "test/1.0 with a long name").add("accept", "*/*");
    }

    /** A head whose {@code fields} fields of 10,000 bytes do not compress. */
    private static Http2Headers large(int fields) {
        Http2Headers head = common();
        for (int i = 0; i < fields; i++) {
            head.add("large-" + i, LONG);
        }
        return head;
    }

    private static int size(Http2Headers head) {
        int size = 0;
        for (Map.Entry<CharSequence, CharSequence> field : head) {
            size += field.getKey().length() + field.getValue().length() + 32;
        }
        return size;
    }
}
