package dev.culvert.protocol.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocket13FrameDecoder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchWriterTest {
    private final Random random = new Random(5);

    /** Around each form of the length, and around the eight bytes that are masked at a time. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 8, 9, 125, 126, 127, 128, 1000, 65_535})
    void nettyReadsWhatIsWritten(int length) {
        for (boolean masks : new boolean[]{true, false}) {
            byte[] payload = new byte[length];
            random.nextBytes(payload);
            ByteBuf message = UnpooledByteBufAllocator.DEFAULT.directBuffer()
                    .writeZero(BatchWriter.ROOM)
                    .writeBytes(payload);

            var receiver = new EmbeddedChannel(new WebSocket13FrameDecoder(masks, false, 1 << 16));
            receiver.writeInbound(BatchWriter.framed(message, masks));

            BinaryWebSocketFrame frame = receiver.readInbound();
            assertThat(frame.isFinalFragment()).isTrue();
            assertThat(ByteBufUtil.getBytes(frame.content())).isEqualTo(payload);
            frame.release();
            assertThat(receiver.finish()).isFalse();
        }
    }

    @Test
    void maskingTwiceGivesTheBytesBack() {
        byte[] bytes = new byte[1003];
        random.nextBytes(bytes);
        ByteBuf buffer = Unpooled.copiedBuffer(bytes);

        BatchWriter.mask(buffer, 3, 1000, 0x12345678);
        assertThat(buffer.getByte(2)).isEqualTo(bytes[2]);
        assertThat(buffer.getByte(3)).isEqualTo((byte) (bytes[3] ^ 0x12));
        BatchWriter.mask(buffer, 3, 1000, 0x12345678);

        assertThat(ByteBufUtil.getBytes(buffer)).isEqualTo(bytes);
    }
}
