package dev.culvert.protocol.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.protocol.frame.Frame.Data;
import dev.culvert.protocol.frame.Frame.GoAway;
import dev.culvert.protocol.frame.Frame.Grant;
import dev.culvert.protocol.frame.Frame.Head;
import dev.culvert.protocol.frame.Frame.OpeningHello;
import dev.culvert.protocol.frame.Frame.Ping;
import dev.culvert.protocol.frame.Frame.Ready;
import dev.culvert.protocol.frame.Frame.Reset;
import dev.culvert.protocol.frame.Frame.Skipped;
import dev.culvert.protocol.frame.HeadOptions.Delivery;
import dev.culvert.protocol.frame.HeadOptions.Times;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.Hello.Nonce;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/protocol.md §2, §3 and §4, byte for byte. */
final class FrameCodecTest {
    private static final Limits LIMITS = new Limits(1000, 72 << 10, 132, 4096, 256 << 10, 16 << 20);
    private static final Hello HELLO = new Hello(1, 2, 5, 0x11, 0x22, 3, true, LIMITS, new Nonce(1, 2, 3, 4),
            "culvert 0.1.0");
    /** HELLO's fields but for the software name and the proof. */
    private static final String HELLO_FIELDS = "01 0004 0001 0002" + "02 0008 0000000000000005"
            + "03 0010 0000000000000011 0000000000000022" + "04 0002 03 01"
            + "05 0016 000003e8 00012000 0084 00001000 00040000 01000000"
            + "06 0020 0000000000000001 0000000000000002 0000000000000003 0000000000000004";

    @Test
    void workedExamplesAreReadAndWrittenAsOnThePage() {
        for (String batch : WorkedExamples.batches()) {
            ByteBuf in = WorkedExamples.buffer(batch);
            ByteBuf out = Unpooled.buffer();
            while (in.isReadable()) {
                FrameCodec.encode(FrameCodec.decode(in), out);
            }

            assertThat(ByteBufUtil.hexDump(out)).isEqualTo(batch);
            assertThat(in.refCnt()).isEqualTo(1);
            in.release();
        }
    }

    @Test
    void grantAndResetOfTheSecondExampleMeanWhatThePageSays() {
        ByteBuf in = WorkedExamples.buffer(WorkedExamples.batches().get(2));

        assertThat(FrameCodec.decode(in)).isEqualTo(new Grant(5, 131_072));
        assertThat(FrameCodec.decode(in)).isEqualTo(new Reset(5, ErrorCode.FAILED, 8, 3, ""));
        assertThat(in.isReadable()).isFalse();
    }

    @Test
    void helloHasItsFieldsInOrder() {
        assertBytes(new OpeningHello(HELLO),
                "01 00 0076 00000000" + HELLO_FIELDS + text("07", "culvert 0.1.0"));
    }

    @Test
    void readyHasItsFieldsInOrder() {
        assertBytes(new Ready(1, 2, 3, "acme/prod", "h.example.com"), "02 00 003a 00000000"
                + "01 0010 0000000000000001 0000000000000002" + "02 0008 0000000000000003"
                + text("03", "acme/prod")
                + text("04", "h.example.com"));
    }

    @Test
    void framesOfInstancesThatWaitHaveTheirFieldsInOrder() {
        assertBytes(new OpeningHello(HELLO.withStandby(513)),
                "01 00 007b 00000000" + HELLO_FIELDS + text("07", "culvert 0.1.0") + "09 0002 0201");
        assertBytes(new Frame.Wait(new Ready(1, 2, 3, "acme/prod", "h.example.com")), "0b 00 003a 00000000"
                + "01 0010 0000000000000001 0000000000000002" + "02 0008 0000000000000003"
                + text("03", "acme/prod")
                + text("04", "h.example.com"));
        assertBytes(new Frame.ReadyAck(), "02 01 0000 00000000");
        assertBytes(new Frame.Leave(), "0c 00 0000 00000000");
    }

    @Test
    void headHasKindAndOptionsInFront() {
        HeadOptions options = new HeadOptions(65_536, 1_000, new Delivery(1, 2, 3), new Times(4, 5, 6), true);
        assertBytes(
                new Head(7, FrameCodec.HEAD_OPENS | FrameCodec.HEAD_LAST, StreamKind.UPGRADE, options,
                        bytes("8287")),
                "03 06 0033 00000007 01 002e" + "01 04 00010000" + "02 04 000003e8"
                        + "03 12 0000000000000001 0000000000000002 0003" + "84 0c 00000004 00000005 00000006"
                        + "8287");
    }

    @Test
    void continuedHeadIsAllBlock() {
        assertBytes(
                new Head(7, FrameCodec.HEAD_MORE | FrameCodec.HEAD_LAST, StreamKind.HTTP, HeadOptions.NONE,
                        bytes("8287")),
                "03 12 0002 00000007 8287");
    }

    @Test
    void dataCarriesItsEnd() {
        assertBytes(new Data(1, bytes("6f6b"), true), "04 01 0002 00000001 6f6b");
        assertBytes(new Data(1, bytes("6f6b"), false), "04 00 0002 00000001 6f6b");
        assertBytes(new Data(1, bytes(""), true), "04 01 0000 00000001");
    }

    @Test
    void controlFramesHaveTheirFieldsInOrder() {
        assertBytes(new Grant(0, Integer.MAX_VALUE), "05 00 0004 00000000 7fffffff");
        assertBytes(new Reset(Integer.MAX_VALUE, ErrorCode.REFUSED, 5, 1, "é"),
                "06 00 0006 7fffffff 0009 05 01 c3a9");
        assertBytes(new Ping(-2, false), "07 00 0008 00000000 fffffffffffffffe");
        assertBytes(new Ping(1, true), "07 01 0008 00000000 0000000000000001");
        assertBytes(new GoAway(ErrorCode.DRAINING, 9, 500, "x"),
                "08 00 000b 00000000 000f 00000009 000001f4 78");
    }

    @Test
    void authIsAClaimOrAnAnswer() {
        ByteBuf out = Unpooled.buffer();
        FrameCodec.encode(new Frame.Auth(new byte[]{1, 2}, new byte[]{3}), out);
        assertThat(ByteBufUtil.hexDump(out)).isEqualTo("0900000900000000" + "0100020102" + "02000103");
        Frame.Auth claim = (Frame.Auth) FrameCodec.decode(out);
        assertThat(claim.certificate()).containsExactly(1, 2);
        assertThat(claim.proof()).containsExactly(3);

        assertBytes(new Frame.AuthAnswer(ErrorCode.UNAUTHORIZED, "no"),
                "09 00 0007 00000000 03 0004 000d 6e6f");
    }

    @Test
    void announceIsAPartOfADocument() {
        ByteBuf out = Unpooled.buffer();
        FrameCodec.encode(new Frame.Announce(new byte[]{'{', '}'}, true), out);
        assertThat(ByteBufUtil.hexDump(out)).isEqualTo("0a01000200000000" + "7b7d");
        Frame.Announce part = (Frame.Announce) FrameCodec.decode(out);
        assertThat(part.part()).containsExactly('{', '}');
        assertThat(part.last()).isTrue();
    }

    @Test
    void authOfBothOrOfNeitherIsASessionError() {
        for (String fields : List.of("", "01 0001 aa", "02 0001 aa", "01 0000 02 0000",
                "03 0002 0000 01 0001 aa")) {
            ByteBuf in = bytes(
                    "09 00 %04x 00000000".formatted(fields.replace(" ", "").length() / 2) + fields);

            assertThatThrownBy(() -> FrameCodec.decode(in)).isInstanceOfSatisfying(ProtocolException.class,
                    e -> assertThat(e.code()).isEqualTo(ErrorCode.PROTOCOL));
        }
    }

    @Test
    void optionalTypesAndTheirBytesAreSkipped() {
        ByteBuf in = bytes("80 ff 0003 00000005 aabbcc" + "fe 00 0000 00000000");

        assertThat(FrameCodec.decode(in)).isEqualTo(new Skipped(0x80));
        assertThat(FrameCodec.decode(in)).isEqualTo(new Skipped(0xfe));
        assertThat(in.isReadable()).isFalse();
    }

    @Test
    void undefinedFlagsAreIgnored() {
        assertThat(FrameCodec.decode(bytes("05 ff 0004 00000001 00000001"))).isEqualTo(new Grant(1, 1));
        assertThat(FrameCodec.decode(bytes("07 fe 0008 00000000 0000000000000001")))
                .isEqualTo(new Ping(1, false));
    }

    @Test
    void optionalFieldsOfHelloAndTheProofAreSkipped() {
        String fields = "80 0002 ffff" + HELLO_FIELDS + "08 0003 010203" + text("07", "culvert 0.1.0")
                + "ff 0000";

        assertThat(FrameCodec.decode(frame("01 00", "00000000", fields))).isEqualTo(new OpeningHello(HELLO));
    }

    @Test
    void unknownCodesCountAsInternal() {
        assertThat(FrameCodec.decode(bytes("06 00 0004 00000001 0011 00 00")))
                .isEqualTo(new Reset(1, ErrorCode.INTERNAL, 0, 0, ""));
        assertThat(FrameCodec.decode(bytes("06 00 0004 00000001 ffff 00 00")))
                .isEqualTo(new Reset(1, ErrorCode.INTERNAL, 0, 0, ""));
    }

    @Test
    void numbersBeyondWhatMattersAreCapped() {
        String fields = HELLO_FIELDS.replace("000003e8 00012000", "ffffffff ffffffff") + text("07", "x");
        OpeningHello hello = (OpeningHello) FrameCodec.decode(frame("01 00", "00000000", fields));

        assertThat(hello.hello().limits().streams()).isEqualTo(Integer.MAX_VALUE);
        assertThat(hello.hello().limits().headBytes()).isEqualTo(Integer.MAX_VALUE);
        assertThat(FrameCodec.decode(bytes("08 00 000a 00000000 0000 00000001 ffffffff")))
                .isEqualTo(new GoAway(ErrorCode.NO_ERROR, 1, 0, ""));
    }

    @Test
    void requiredHeadOptionThatIsNotKnownIsLeftToTheStream() {
        Head unknown = (Head) FrameCodec.decode(bytes("03 06 0006 00000001 00 0003 7f 01 aa"));
        Head optional = (Head) FrameCodec.decode(bytes("03 06 0006 00000001 00 0003 85 01 aa"));

        assertThat(unknown.options().supported()).isFalse();
        assertThat(optional.options().supported()).isTrue();
    }

    @Test
    void streamKindThatIsNotKnownIsLeftToTheStream() {
        assertThat(((Head) FrameCodec.decode(bytes("03 06 0003 00000001 09 0000"))).kind()).isNull();
    }

    @Test
    void longDetailsAreCutToWholeCharacters() {
        ByteBuf out = Unpooled.buffer();
        FrameCodec.encode(new Reset(1, ErrorCode.FAILED, 0, 0, "€".repeat(300)), out);

        assertThat(FrameCodec.decode(out)).isEqualTo(new Reset(1, ErrorCode.FAILED, 0, 0, "€".repeat(66)));
    }

    /** The cases of docs/protocol.md §2 to §5; the codec knows no stream errors. */
    @ParameterizedTest(name = "{0}: {2}")
    @CsvSource({"a header of seven bytes, 05000004000000, FRAME_SIZE",
            "a payload over 16376 bytes, 0400 3ff9 00000001, FRAME_SIZE",
            "a payload that leaves the batch, 0500 0004 00000001 000000, FRAME_SIZE",
            "the high bit of a stream id, 0500 0004 80000001 00000001, PROTOCOL",
            "an unknown required type, 0d00 0000 00000000, UNSUPPORTED",
            "WAIT on a stream, 0b00 0000 00000001, PROTOCOL",
            "WAIT without fields, 0b00 0000 00000000, PROTOCOL",
            "LEAVE on a stream, 0c00 0000 00000001, PROTOCOL",
            "LEAVE with a byte, 0c00 0001 00000000 00, FRAME_SIZE",
            "ACK of READY with a byte, 0201 0001 00000000 00, FRAME_SIZE",
            "a standby field that is short, 0100 0004 00000000 09 0001 00, PROTOCOL",
            "an announcement of nothing, 0a00 0000 00000000, PROTOCOL",
            "an announcement on a stream, 0a01 0000 00000001, PROTOCOL",
            "type zero, 0000 0000 00000000, UNSUPPORTED",
            "DATA on the session, 0400 0001 00000000 00, PROTOCOL",
            "empty DATA without an end, 0400 0000 00000001, PROTOCOL",
            "HEAD on the session, 0306 0003 00000000 000000, PROTOCOL",
            "RESET on the session, 0600 0004 00000000 00000000, PROTOCOL",
            "PING on a stream, 0700 0008 00000001 0000000000000000, PROTOCOL",
            "GOAWAY on a stream, 0800 000a 00000001 00000000000000000000, PROTOCOL",
            "HELLO on a stream, 0100 0000 00000001, PROTOCOL",
            "READY on a stream, 0200 0000 00000001, PROTOCOL",
            "GRANT that is short, 0500 0003 00000001 000001, FRAME_SIZE",
            "GRANT that is long, 0500 0005 00000001 0000000100, FRAME_SIZE",
            "GRANT of nothing, 0500 0004 00000001 00000000, FLOW_CONTROL",
            "GRANT over 2^31-1, 0500 0004 00000001 80000000, FLOW_CONTROL",
            "PING that is short, 0700 0007 00000000 00000000000000, FRAME_SIZE",
            "PING that is long, 0700 0009 00000000 000000000000000000, FRAME_SIZE",
            "RESET that is short, 0600 0003 00000001 000000, FRAME_SIZE",
            "GOAWAY that is short, 0800 0009 00000000 000000000000000000, FRAME_SIZE",
            "GOAWAY with a stream id's high bit, 0800 000a 00000000 0000 80000000 00000000, PROTOCOL",
            "HEAD without options length, 0306 0002 00000001 0000, FRAME_SIZE",
            "HEAD with options beyond the frame, 0306 0003 00000001 000001, FRAME_SIZE",
            "head option beyond its list, 0306 0005 00000001 00 0002 01 04, FRAME_SIZE",
            "head option without a length, 0306 0004 00000001 00 0001 01, FRAME_SIZE",
            "window option of three bytes, 0306 0008 00000001 00 0005 01 03 000001, PROTOCOL",
            "window option of zero, 0306 0009 00000001 00 0006 01 04 00000000, FLOW_CONTROL",
            "window option over 16 MiB, 0306 0009 00000001 00 0006 01 04 01000001, FLOW_CONTROL",
            "HELLO without fields, 0100 0000 00000000, PROTOCOL",
            "READY without fields, 0200 0000 00000000, PROTOCOL",
            "a field beyond its frame, 0100 0004 00000000 01 0004 00, FRAME_SIZE",
            "a field without length, 0100 0002 00000000 01 00, FRAME_SIZE",
            "a field that is short, 0100 0006 00000000 01 0003 000100, PROTOCOL",
            "a field that is long, 0100 0008 00000000 01 0005 0001000100, PROTOCOL",
            "a field that stands twice, 0100 000e 00000000 01 0004 00010001 01 0004 00010001, PROTOCOL",
            "an unknown required field, 0100 0003 00000000 0a 0000, UNSUPPORTED"})
    void malformedFrameEndsTheSession(String what, String hex, ErrorCode expected) {
        ByteBuf in = bytes(hex.startsWith("0400 3ff9") ? hex + "00".repeat(0x3ff9) : hex);

        assertThatThrownBy(() -> FrameCodec.decode(in)).as(what)
                .isInstanceOfSatisfying(ProtocolException.class, e -> {
                    assertThat(e.code()).isEqualTo(expected);
                    assertThat(e.streamId()).as("scope").isZero();
                });
        assertThat(in.refCnt()).isEqualTo(1);
    }

    @ParameterizedTest(name = "{1} for {0}")
    @CsvSource({"0004 0001 0002, 0004 0002 0001", "0002 03 01, 0002 04 01",
            "00001000 00040000 01000000, 00010001 00040000 01000000",
            "00001000 00040000 01000000, 00001000 000003ff 01000000",
            "00001000 00040000 01000000, 00001000 01000001 01000000",
            "00001000 00040000 01000000, 00001000 00040000 0000ffff",
            "00001000 00040000 01000000, 00001000 00040000 40000001"})
    void valueOfHelloThatIsOutOfRangeEndsTheSession(String right, String wrong) {
        assertThat(HELLO_FIELDS).contains(right);
        ByteBuf in = frame("01 00", "00000000", HELLO_FIELDS.replace(right, wrong) + text("07", "x"));

        assertThatThrownBy(() -> FrameCodec.decode(in)).isInstanceOfSatisfying(ProtocolException.class,
                e -> assertThat(e.code()).isEqualTo(ErrorCode.PROTOCOL));
    }

    @Test
    void missingFieldOrLongTextEndsTheSession() {
        for (String fields : new String[]{HELLO_FIELDS, HELLO_FIELDS + text("07", "x".repeat(101)),
                text("07", "x")}) {
            ByteBuf in = frame("01 00", "00000000", fields);
            assertThatThrownBy(() -> FrameCodec.decode(in)).isInstanceOfSatisfying(ProtocolException.class,
                    e -> assertThat(e.code()).isEqualTo(ErrorCode.PROTOCOL));
        }
    }

    @Test
    void frameThatFailsLeavesTheReaderBehindIt() {
        ByteBuf in = bytes("0700 0007 00000000 00000000000000" + "0500 0004 00000001 00000001");
        assertThatThrownBy(() -> FrameCodec.decode(in)).isInstanceOf(ProtocolException.class);

        assertThat(FrameCodec.decode(in)).isEqualTo(new Grant(1, 1));
    }

    @Test
    void decodedBuffersAreSlicesThatHoldTheirBatch() {
        ByteBuf in = bytes("0400 0002 00000001 6f6b");
        Data data = (Data) FrameCodec.decode(in);
        assertThat(in.refCnt()).isEqualTo(2);

        Frame.release(data);

        assertThat(in.refCnt()).isEqualTo(1);
    }

    @Test
    void nonceIsNotPrinted() {
        assertThat(HELLO.toString()).contains("nonce=***");
    }

    private static void assertBytes(Frame frame, String hex) {
        ByteBuf out = Unpooled.buffer();
        FrameCodec.encode(frame, out);
        assertThat(ByteBufUtil.hexDump(out)).isEqualTo(hex.replace(" ", ""));

        Frame decoded = FrameCodec.decode(out);
        ByteBuf again = Unpooled.buffer();
        FrameCodec.encode(decoded, again);
        assertThat(ByteBufUtil.hexDump(again)).isEqualTo(hex.replace(" ", ""));
        if (!(frame instanceof Head) && !(frame instanceof Data)) {
            assertThat(decoded).isEqualTo(frame);
        }
        assertThat(out.refCnt()).isEqualTo(1);
    }

    private static ByteBuf frame(String typeAndFlags, String streamId, String payload) {
        int length = payload.replace(" ", "").length() / 2;
        return bytes(typeAndFlags + String.format("%04x", length) + streamId + payload);
    }

    private static String text(String tag, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return tag + String.format("%04x", bytes.length) + ByteBufUtil.hexDump(bytes);
    }

    private static ByteBuf bytes(String hex) {
        return WorkedExamples.buffer(hex.replace(" ", ""));
    }
}
