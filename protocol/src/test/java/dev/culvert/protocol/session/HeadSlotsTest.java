package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.ProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/protocol.md §5.1. */
class HeadSlotsTest {
    private static final int LIMIT = 4096;
    private static final int STREAM = 7;
    private final SlotEncoder encoder = new SlotEncoder(Set.of(AsciiString.cached("cookie")), LIMIT);
    private final SlotDecoder decoder = new SlotDecoder(LIMIT, 72 << 10, 132);

    @Test
    void aFieldOfAnEarlierHeadIsOneByte() {
        assertThat(block(request().add("x-own", "v"))).hasSizeGreaterThan(40);
        assertThat(block(request().add("x-own", "v"))).hasSize(6);
    }

    @Test
    void aRepeatedFieldIsTheSameObject() {
        Http2Headers first = pass(request());
        Http2Headers second = pass(request());

        assertThat(second.get("accept")).isSameAs(first.get("accept"));
    }

    @Test
    void secretsAreNeverKept() {
        for (int i = 0; i < 3; i++) {
            assertThat(new String(block(request().add("cookie", "s3cr3t")), StandardCharsets.ISO_8859_1))
                    .contains("s3cr3t");
        }
    }

    @Test
    void randomHeadsArriveAsTheyWere() {
        Random random = new Random(5);
        for (int i = 0; i < 20_000; i++) {
            Http2Headers head = random(random);
            byte[] block = block(head);

            assertThat(text(decoder.decode(STREAM, Unpooled.wrappedBuffer(block)))).isEqualTo(text(head));
            assertThat((long) block.length).isLessThanOrEqualTo(Heads.bytes(head));
        }
    }

    /** FORGET instructions make room for a field, and stand in the same block. */
    @Test
    void aBlockIsNeverLongerThanItsHead() {
        for (int i = 0; i < 90; i++) {
            pass(new DefaultHttp2Headers(false).add("x-" + i % 45, "v" + i));
        }
        Http2Headers head = new DefaultHttp2Headers(false).status("200")
                .add("n".repeat(3000), "v".repeat(1000))
                .add("x-large", "v".repeat(60_000));

        assertThat((long) block(head).length).isLessThanOrEqualTo(Heads.bytes(head));
    }

    @Test
    void longNamesHaveNoSlots() {
        for (int i = 0; i < 60; i++) {
            Http2Headers head = new DefaultHttp2Headers(false).add("n".repeat(3000) + i, "v");

            assertThat(block(head)[0]).isEqualTo((byte) HeadSlots.FIELD);
        }
    }

    @Test
    void tooManyLongNamesEndTheSession() {
        ByteBuf block = Unpooled.buffer();
        for (int slot = HeadSlots.fixed(); slot < HeadSlots.fixed() + 6; slot++) {
            block.writeByte(HeadSlots.KEEP_FIELD)
                    .writeByte(slot)
                    .writeByte(3000 & 0x7f | 0x80)
                    .writeByte(3000 >> 7);
            block.writeBytes(("n".repeat(2999) + slot % 10).getBytes(StandardCharsets.US_ASCII)).writeByte(0);
            block.writeByte(HeadSlots.FORGET).writeByte(slot);
        }

        assertThatThrownBy(() -> decoder.decode(STREAM, block)).isInstanceOfSatisfying(
                ProtocolException.class,
                e -> assertThat(e.code()).isEqualTo(ErrorCode.COMPRESSION));
    }

    /** Whatever comes, it is a head or one of two errors, and no more is kept than the limit. */
    @Test
    void damagedBlocksAreRefused() {
        Random random = new Random(6);
        SlotDecoder victim = new SlotDecoder(LIMIT, 72 << 10, 132);
        for (int i = 0; i < 50_000; i++) {
            byte[] block = block(random(random));
            for (int damage = random.nextInt(3); damage > 0; damage--) {
                block[random.nextInt(block.length)] = (byte) random.nextInt(256);
            }
            try {
                victim.decode(STREAM, Unpooled.wrappedBuffer(block));
            } catch (ProtocolException e) {
                if (e.streamId() == 0) {
                    assertThat(e.code()).isEqualTo(ErrorCode.COMPRESSION);
                    victim = new SlotDecoder(LIMIT, 72 << 10, 132);
                } else {
                    assertThat(e.code()).isIn(ErrorCode.PROTOCOL, ErrorCode.HEAD_TOO_LARGE);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"05", "7f", "80", "ff", "00", "0000", "000001", "008000", "0003ffffff7f",
            "0380016101",
            "03000161016200", "02000162", "040081", "047efe", "01800161"})
    void whatCannotBeReadEndsTheSession(String hex) {
        byte[] block = ByteBufUtil.decodeHexDump(hex);

        assertThatThrownBy(() -> decoder.decode(STREAM, Unpooled.wrappedBuffer(block)))
                .isInstanceOfSatisfying(ProtocolException.class, e -> {
                    assertThat(e.streamId()).isZero();
                    assertThat(e.code()).isEqualTo(ErrorCode.COMPRESSION);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"X-Upper:a", "connection:close", "transfer-encoding:chunked", "te:gzip", "a b:c",
            "x:a\u0000",
            "x:a\nb", "x: a", ":odd:a"})
    void fieldsThatHpackRefusesAreRefused(String field) {
        int colon = field.indexOf(':', 1);
        String name = field.substring(0, colon);
        String value = field.substring(colon + 1);
        for (int i = 0; i < 2; i++) {
            Http2Headers head = new DefaultHttp2Headers(false).method("GET").add(name, value);

            assertThatThrownBy(() -> pass(head)).isInstanceOfSatisfying(ProtocolException.class, e -> {
                assertThat(e.streamId()).isEqualTo(STREAM);
                assertThat(e.code()).isEqualTo(ErrorCode.PROTOCOL);
            });
        }
        assertThat(text(pass(request()))).isEqualTo(text(request()));
    }

    @Test
    void pseudoFieldsComeFirstAndOnceAndOfOneKind() {
        for (String hex : new String[]{"00 06 01 61 00 00 01 61", "00 00 01 61 00 00 01 61",
                "00 00 01 61 00 04 01 32"}) {
            assertThatThrownBy(
                    () -> decoder.decode(STREAM,
                            Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex.replace(" ", "")))))
                    .isInstanceOfSatisfying(ProtocolException.class,
                            e -> assertThat(e.code()).isEqualTo(ErrorCode.PROTOCOL));
        }
    }

    /** Each is one byte on the wire. */
    @Test
    void aBombIsRefusedBeforeItIsMade() {
        pass(new DefaultHttp2Headers(false).add("x-bomb", "b".repeat(1000)));
        ByteBuf bomb = Unpooled.buffer();
        for (int i = 0; i < 60_000; i++) {
            bomb.writeByte(HeadSlots.KEPT | HeadSlots.fixed());
        }

        assertThatThrownBy(() -> decoder.decode(STREAM, bomb)).isInstanceOfSatisfying(ProtocolException.class,
                e -> assertThat(e.code()).isEqualTo(ErrorCode.HEAD_TOO_LARGE));
    }

    @Test
    void moreThanTheLimitIsNotKept() {
        var small = new SlotDecoder(100, 72 << 10, 132);

        assertThatThrownBy(() -> small.decode(STREAM, Unpooled.wrappedBuffer(
                block(new DefaultHttp2Headers(false).add("x-long", "v".repeat(80))))))
                .isInstanceOfSatisfying(ProtocolException.class,
                        e -> assertThat(e.code()).isEqualTo(ErrorCode.COMPRESSION));
    }

    private static Http2Headers request() {
        return new DefaultHttp2Headers(false).method("GET")
                .path("/a")
                .authority("acme.example")
                .add("accept", "*/*")
                .add("user-agent", "curl/8.5.0");
    }

    private static Http2Headers random(Random random) {
        Http2Headers head = new DefaultHttp2Headers(false).method("GET").path("/" + random.nextInt(5));
        for (int i = random.nextInt(20); i > 0; i--) {
            String name = switch (random.nextInt(4)) {
                case 0 -> HeadSlots.name(6 + random.nextInt(HeadSlots.fixed() - 6)).toString();
                case 1 -> "x-" + random.nextInt(200);
                case 2 -> "x-" + random.nextInt(4);
                default -> "cookie";
            };
            if (!name.equals("te")) {
                head.add(name,
                        "v".repeat(random.nextInt(8) == 0 ? random.nextInt(1500) : random.nextInt(40)));
            }
        }
        return head;
    }

    private static String text(Http2Headers head) {
        var text = new StringBuilder();
        head.forEach(field -> text.append(field.getKey()).append('=').append(field.getValue()).append('\n'));
        return text.toString();
    }

    private byte[] block(Http2Headers head) {
        ByteBuf block = Unpooled.buffer();
        encoder.encode(head, block);
        return ByteBufUtil.getBytes(block);
    }

    private Http2Headers pass(Http2Headers head) {
        return decoder.decode(STREAM, Unpooled.wrappedBuffer(block(head)));
    }
}
