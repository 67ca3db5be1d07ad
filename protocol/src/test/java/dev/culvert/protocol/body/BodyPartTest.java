package dev.culvert.protocol.body;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.Frame.Data;
import dev.culvert.protocol.frame.FrameCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;

final class BodyPartTest {
    private final ByteBuf message = PooledByteBufAllocator.DEFAULT.directBuffer(64 << 10);

    @Test
    void aSmallDataFrameDoesNotKeepItsMessage() {
        FrameCodec.encode(new Data(1, bytes(10), false), message);
        FrameCodec.encode(new Data(3, bytes(8 << 10), false), message);

        Data small = (Data) FrameCodec.decode(message);
        assertThat(message.refCnt()).isEqualTo(1);
        Data large = (Data) FrameCodec.decode(message);
        assertThat(message.refCnt()).isEqualTo(2);

        message.release();
        assertThat(small.body().capacity()).isEqualTo(10);
        assertThat(small.body().getByte(9)).isEqualTo((byte) 9);
        small.body().release();
        large.body().release();
        assertThat(message.refCnt()).isZero();
    }

    @Test
    void aSmallPartOfASmallBufferIsNotCopied() {
        ByteBuf small = bytes(BodyPart.MAX_KEPT);

        ByteBuf part = BodyPart.read(small, 10);

        assertThat(small.refCnt()).isEqualTo(2);
        part.release();
        small.release();
        message.release();
    }

    @Test
    void aBorrowedSmallSliceDoesNotKeepItsBuffer() {
        message.writeZero(32 << 10);

        ByteBuf small = BodyPart.keep(message.slice(5, 10));
        assertThat(message.refCnt()).isEqualTo(1);
        ByteBuf large = BodyPart.keep(message.slice(5, BodyQueue.SMALL));
        assertThat(message.refCnt()).isEqualTo(2);

        small.release();
        large.release();
        message.release();
        assertThat(message.refCnt()).isZero();
    }

    private static ByteBuf bytes(int count) {
        ByteBuf bytes = PooledByteBufAllocator.DEFAULT.directBuffer(count, count);
        for (int i = 0; i < count; i++) {
            bytes.writeByte(i);
        }
        return bytes;
    }
}
