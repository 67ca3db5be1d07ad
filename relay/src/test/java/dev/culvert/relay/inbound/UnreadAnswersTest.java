package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Answers without a body wait for no window of HTTP/2. */
class UnreadAnswersTest {
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int END_STREAM_AND_HEADERS = 5;
    private static final int GOAWAY = 7;
    private static final int HEADER_BYTES = 9;

    private static ByteBuf frame(int type, int flags, int stream, ByteBuf payload) {
        ByteBuf frame = Unpooled.buffer()
                .writeMedium(payload.readableBytes())
                .writeByte(type)
                .writeByte(flags)
                .writeInt(stream)
                .writeBytes(payload);
        payload.release();
        return frame;
    }

    private static ByteBuf request(int stream) throws Http2Exception {
        ByteBuf block = Unpooled.buffer();
        new DefaultHttp2HeadersEncoder().encodeHeaders(stream, new DefaultHttp2Headers().method("HEAD")
                .scheme("https")
                .path("/")
                .authority(EmbeddedEdge.HOST), block);
        return frame(HEADERS, END_STREAM_AND_HEADERS, stream, block);
    }

    @Test
    void aCallerThatAsksOnAndReadsNothingIsClosed() throws Exception {
        try (EmbeddedEdge edge = EmbeddedEdge.http2()) {
            EmbeddedChannel channel = edge.channel();
            channel.writeInbound(
                    Unpooled.copiedBuffer("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", StandardCharsets.US_ASCII),
                    frame(SETTINGS, 0, 0, Unpooled.buffer(0)), request(1));
            assertThat(edge.relay.all).hasSize(1);
            edge.written();
            edge.block(true);
            channel.write(Unpooled.buffer().writeZero(1 << 20));

            channel.writeInbound(request(3));

            assertThat(edge.relay.all).hasSize(1);
            edge.block(false);
            ByteBuf last = null;
            for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
                if (out.readableBytes() >= HEADER_BYTES + 8 && out.getByte(3) == GOAWAY) {
                    assertThat(out.getInt(HEADER_BYTES + 4))
                            .isEqualTo((int) Http2Error.ENHANCE_YOUR_CALM.code());
                    last = out;
                }
                out.release();
            }
            assertThat(last).as("GOAWAY").isNotNull();
        }
    }
}
