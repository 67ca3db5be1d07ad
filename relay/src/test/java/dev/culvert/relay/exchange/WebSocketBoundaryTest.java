package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebSocketBoundaryTest {
    /** The bytes come one by one, and all at once. */
    @ParameterizedTest
    @CsvSource({"0, false", "1, false", "125, false", "126, false", "65535, false", "65536, false", "0, true",
            "5, true", "126, true", "70000, true"})
    void aFrameIsOverWithItsLastByteAndNotBefore(int length, boolean masked) {
        ByteBuf frame = frame(length, masked);
        int bytes = frame.readableBytes();
        var single = new WebSocketBoundary();
        for (int i = 0; i < bytes; i++) {
            assertThat(single.isReached()).as("byte %s", i).isEqualTo(i == 0);
            single.pass(frame.slice(i, 1));
        }
        assertThat(single.isReached()).isTrue();

        var whole = new WebSocketBoundary();
        ByteBuf two = Unpooled.wrappedBuffer(frame.retainedSlice(), frame.retainedSlice(0, bytes - 1));
        whole.pass(two);
        assertThat(whole.isReached()).isEqualTo(bytes == 1);
        whole.pass(frame.slice(bytes - 1, 1));
        assertThat(whole.isReached()).isTrue();
        assertThat(two.readableBytes()).isEqualTo(2 * bytes - 1);
        two.release();
        frame.release();
    }

    @ParameterizedTest
    @CsvSource({"-9223372036854775808", "-1"})
    void aLengthThatNoFrameHasIsNeverOver(long length) {
        ByteBuf frame = Unpooled.buffer().writeByte(0x82).writeByte(127).writeLong(length).writeZero(100);
        var boundary = new WebSocketBoundary();

        boundary.pass(frame);

        assertThat(boundary.isReached()).isFalse();
        frame.release();
    }

    private static ByteBuf frame(int length, boolean masked) {
        ByteBuf frame = Unpooled.buffer().writeByte(0x82);
        int mask = masked ? 0x80 : 0;
        if (length < 126) {
            frame.writeByte(mask | length);
        } else if (length < 1 << 16) {
            frame.writeByte(mask | 126).writeShort(length);
        } else {
            frame.writeByte(mask | 127).writeLong(length);
        }
        return frame.writeZero((masked ? 4 : 0) + length);
    }
}
