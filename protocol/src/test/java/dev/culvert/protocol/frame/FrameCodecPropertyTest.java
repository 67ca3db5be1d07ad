package dev.culvert.protocol.frame;

import static io.netty.buffer.Unpooled.EMPTY_BUFFER;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What holds for every frame, over random ones; the seeds are fixed. */
final class FrameCodecPropertyTest {
    private static final int FRAMES = 5_000;

    @Test
    void whatIsWrittenIsReadBack() {
        Random random = new Random(1);
        for (int i = 0; i < FRAMES; i++) {
            Frame frame = randomFrame(random);
            Frame written = bare(frame);
            ByteBuf out = Unpooled.buffer();
            String body = body(frame);
            FrameCodec.encode(frame, out);
            int length = out.readableBytes();

            Frame read = FrameCodec.decode(out);

            assertThat(length).isLessThanOrEqualTo(FrameCodec.HEADER_BYTES + FrameCodec.MAX_PAYLOAD);
            assertThat(out.isReadable()).isFalse();
            assertThat(body(read)).isEqualTo(body);
            assertThat(bare(read)).isEqualTo(written);
            Frame.release(read);
            assertThat(out.refCnt()).isEqualTo(1);
        }
    }

    @Test
    void everyPrefixOfAFrameIsRefusedAsTheProtocolsOwnError() {
        Random random = new Random(2);
        for (int i = 0; i < 300; i++) {
            ByteBuf whole = Unpooled.buffer();
            FrameCodec.encode(randomFrame(random), whole);
            int length = whole.readableBytes();
            for (int cut = 0; cut < length; cut += cut < 300 ? 1 : 97) {
                ByteBuf prefix = whole.copy(0, cut);
                assertThat(thrownBy(prefix)).as("%s of %s bytes", cut, length)
                        .isInstanceOfSatisfying(ProtocolException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.FRAME_SIZE));
            }
        }
    }

    /** The same cut, but with a header that says so: only the payload is too short. */
    @Test
    void everyShortenedPayloadIsReadOrRefusedAsTheProtocolsOwnError() {
        Random random = new Random(3);
        for (int i = 0; i < 300; i++) {
            ByteBuf whole = Unpooled.buffer();
            FrameCodec.encode(randomFrame(random), whole);
            int length = whole.readableBytes() - FrameCodec.HEADER_BYTES;
            for (int cut = 0; cut < length; cut += cut < 300 ? 1 : 97) {
                ByteBuf shortened = whole.copy(0, FrameCodec.HEADER_BYTES + cut);
                shortened.setShort(2, cut);
                thrownBy(shortened);
                assertThat(shortened.refCnt()).isEqualTo(1);
            }
        }
    }

    @Test
    void randomBytesAreReadOrRefusedAsTheProtocolsOwnError() {
        Random random = new Random(4);
        byte[] bytes = new byte[64];
        for (int i = 0; i < 50_000; i++) {
            random.nextBytes(bytes);
            bytes[0] &= 0x0f;
            bytes[2] = 0;
            bytes[3] &= 0x3f;
            ByteBuf in = Unpooled.copiedBuffer(bytes);
            thrownBy(in);
            assertThat(in.refCnt()).isEqualTo(1);
        }
    }

    /** Decodes one frame and releases it. Returns the protocol's error, or null; anything else fails the test. */
    private static @Nullable ProtocolException thrownBy(ByteBuf in) {
        try {
            Frame.release(FrameCodec.decode(in));
            return null;
        } catch (ProtocolException e) {
            return e;
        }
    }

    private static String body(Frame frame) {
        return switch (frame) {
            case Head head -> ByteBufUtil.hexDump(head.block());
            case Data data -> ByteBufUtil.hexDump(data.body());
            default -> "";
        };
    }

    /** The same frame without its buffer. */
    private static Frame bare(Frame frame) {
        return switch (frame) {
            case Head head ->
                new Head(head.streamId(), head.flags(), head.kind(), head.options(), EMPTY_BUFFER);
            case Data data -> new Data(data.streamId(), EMPTY_BUFFER, data.last());
            default -> frame;
        };
    }

    private static Frame randomFrame(Random random) {
        int id = 1 + random.nextInt(Integer.MAX_VALUE);
        return switch (random.nextInt(12)) {
            case 0 -> new OpeningHello(randomHello(random));
            case 1 -> new Ready(random.nextLong(), random.nextLong(), random.nextLong(), text(random, 127),
                    text(random, 253));
            case 2 -> randomHead(random, id);
            case 3 -> {
                ByteBuf body = bytes(random, FrameCodec.MAX_PAYLOAD);
                yield new Data(id, body, !body.isReadable() || random.nextBoolean());
            }
            case 4 -> new Grant(random.nextBoolean() ? 0 : id, 1 + random.nextInt(Integer.MAX_VALUE));
            case 5 ->
                new Reset(id, ErrorCode.of(random.nextInt(17)), random.nextInt(256), random.nextInt(256),
                        text(random, FrameCodec.MAX_DETAIL));
            case 6 -> new Ping(random.nextLong(), random.nextBoolean());
            case 7 -> new GoAway(ErrorCode.of(random.nextInt(17)), random.nextInt(Integer.MAX_VALUE),
                    random.nextInt(Integer.MAX_VALUE), text(random, FrameCodec.MAX_DETAIL));
            case 8 -> new Frame.ReadyAck();
            case 9 -> new Frame.Wait(new Ready(random.nextLong(), random.nextLong(), random.nextLong(),
                    text(random, 127), text(random, 253)));
            case 10 -> new Frame.Leave();
            default -> new Skipped(0x80 + random.nextInt(128));
        };
    }

    private static Hello randomHello(Random random) {
        int min = random.nextInt(0x10000);
        Limits limits = new Limits(random.nextInt(Integer.MAX_VALUE), random.nextInt(Integer.MAX_VALUE),
                random.nextInt(0x10000), random.nextInt((64 << 10) + 1),
                random.nextInt(1 << 10, (16 << 20) + 1), random.nextInt(64 << 10, (1 << 30) + 1));
        return new Hello(min, random.nextInt(min, 0x10000), random.nextLong(), random.nextLong(),
                random.nextLong(), random.nextInt(4), random.nextBoolean(), limits,
                new Nonce(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong()),
                text(random, 100), random.nextInt(-1, 0x10000));
    }

    private static Frame randomHead(Random random, int id) {
        int flags = random.nextInt(32);
        if ((flags & FrameCodec.HEAD_MORE) != 0) {
            return new Head(id, flags, StreamKind.HTTP, HeadOptions.NONE,
                    bytes(random, FrameCodec.MAX_PAYLOAD));
        }
        HeadOptions options = new HeadOptions(random.nextBoolean() ? 0 : random.nextInt(1, (16 << 20) + 1),
                random.nextBoolean() ? 0 : random.nextInt(Integer.MAX_VALUE),
                random.nextBoolean()
                        ? null
                        : new Delivery(random.nextLong(), random.nextLong(), random.nextInt(0x10000)),
                random.nextBoolean() ? null : new Times(random.nextInt(), random.nextInt(), random.nextInt()),
                true);
        List<StreamKind> kinds = List.of(StreamKind.HTTP, StreamKind.UPGRADE, StreamKind.TCP);
        return new Head(id, flags, kinds.get(random.nextInt(3)), options,
                bytes(random, FrameCodec.MAX_PAYLOAD - 64));
    }

    private static ByteBuf bytes(Random random, int max) {
        byte[] bytes = new byte[random.nextInt(4) == 0 ? random.nextInt(max + 1) : random.nextInt(64)];
        random.nextBytes(bytes);
        return Unpooled.wrappedBuffer(bytes);
    }

    private static String text(Random random, int maxBytes) {
        List<String> letters = new ArrayList<>(List.of("a", "/", "é", "€", "𝄞"));
        StringBuilder text = new StringBuilder();
        for (int left = random.nextInt(maxBytes + 1); left >= 4; left -= 4) {
            text.append(letters.get(random.nextInt(letters.size())));
        }
        return text.toString();
    }
}
