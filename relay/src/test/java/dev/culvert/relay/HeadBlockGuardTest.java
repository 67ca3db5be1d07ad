package dev.culvert.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each case arrives whole, and in pieces of every size. */
final class HeadBlockGuardTest {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            .getBytes(StandardCharsets.US_ASCII);
    /** The block 82 in HEADERS with END_HEADERS, on stream 1. */
    private static final String SOUND = "000001 01 04 00000001 82";
    private static final String SETTINGS = "000000 04 00 00000000";

    @ParameterizedTest
    @ValueSource(strings = {SOUND, SETTINGS + SOUND + SOUND,
            // DATA whose bytes look like updates
            "000004 00 00 00000001 20202020" + SOUND,
            // padding and priority that look like updates
            "00000b 01 2c 00000001 04 2020202020 82 20202020",
            // two updates in each of two heads
            "000003 01 04 00000001 202082" + "000003 01 04 00000003 202082",
            // two updates in each of two parts would be four, but the block goes on behind a field
            "000003 01 00 00000001 202082" + "000002 09 04 00000001 2020",
            // lengths that are no valid frame: Netty refuses them
            "000002 01 28 00000001 0920" + SOUND, "000000 01 08 00000001" + SOUND})
    void soundBytesPass(String frames) {
        byte[] all = bytes(frames);
        for (int piece = 1; piece <= all.length; piece++) {
            EmbeddedChannel channel = new EmbeddedChannel(HeadBlockGuard.ofCaller(Duration.ofMinutes(1)));
            send(channel, all, piece);

            assertThat(passed(channel)).isEqualTo(ByteBufUtil.hexDump(all));
            channel.checkException();
            channel.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"000004 01 04 00000001 20202082",
            SETTINGS + SOUND + "000004 01 04 00000003 20202082",
            "00000e 01 2c 00000001 04 0000000000 20202082 00000000",
            // over two parts of a head, of which one is empty
            "000002 01 00 00000001 2020" + "000000 09 00 00000001" + "000002 09 04 00000001 2082",
            // PUSH_PROMISE
            "000007 05 04 00000001 00000002 202020"})
    void tooManyUpdatesEndTheConnection(String frames) {
        byte[] all = bytes(frames);
        for (int piece = 1; piece <= all.length; piece++) {
            EmbeddedChannel channel = new EmbeddedChannel(HeadBlockGuard.ofCaller(Duration.ofMinutes(1)));
            int size = piece;

            assertThatThrownBy(() -> send(channel, all, size)).isInstanceOfSatisfying(Http2Exception.class,
                    e -> {
                        assertThat(e.error()).isEqualTo(Http2Error.COMPRESSION_ERROR);
                        assertThat(Http2Exception.isStreamError(e)).isFalse();
                    });
            String before = passed(channel);
            channel.writeInbound(Unpooled.wrappedBuffer(new byte[]{1, 2, 3}));
            assertThat(passed(channel)).isEmpty();
            assertThat(ByteBufUtil.hexDump(all)).startsWith(before);
            channel.close();
        }
    }

    private static byte[] bytes(String frames) {
        return ByteBufUtil.getBytes(Unpooled.wrappedBuffer(PREFACE,
                ByteBufUtil.decodeHexDump(frames.replace(" ", ""))));
    }

    private static void send(EmbeddedChannel channel, byte[] all, int piece) {
        for (int at = 0; at < all.length; at += piece) {
            channel.writeInbound(Unpooled.copiedBuffer(all, at, Math.min(piece, all.length - at)));
        }
    }

    private static String passed(EmbeddedChannel channel) {
        var hex = new StringBuilder();
        for (ByteBuf part = channel.readInbound(); part != null; part = channel.readInbound()) {
            hex.append(ByteBufUtil.hexDump(part));
            part.release();
        }
        return hex.toString();
    }
}
