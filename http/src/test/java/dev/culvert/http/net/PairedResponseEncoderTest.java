package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PairedResponseEncoderTest {
    private final PairedResponseEncoder encoder = new PairedResponseEncoder();
    private final EmbeddedChannel channel = new EmbeddedChannel(encoder);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private String written(int status, String body, String... fields) {
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status),
                Unpooled.copiedBuffer(body, StandardCharsets.US_ASCII));
        for (int i = 0; i < fields.length; i += 2) {
            response.headers().set(fields[i], fields[i + 1]);
        }
        channel.writeOutbound(response);
        var text = new StringBuilder();
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            text.append(part.toString(StandardCharsets.US_ASCII));
            part.release();
        }
        return text.toString();
    }

    @Test
    void aFinalResponseHasADate() {
        assertThat(written(200, ""))
                .containsPattern("\r\ndate: \\w{3}, \\d\\d \\w{3} \\d{4} [0-9:]{8} GMT\r\n");
        assertThat(written(503, "", "date", "today")).contains("\r\ndate: today\r\n");
        assertThat(written(100, "")).doesNotContain("date");
    }

    @Test
    void aResponseToHeadHasNoBodyAlsoBehindAnInterimOne() {
        encoder.requested(HttpMethod.HEAD);
        encoder.requested(HttpMethod.GET);

        assertThat(written(100, "")).startsWith("HTTP/1.1 100 ");
        assertThat(written(200, "to HEAD", "content-length", "7")).endsWith("\r\n\r\n");
        assertThat(written(200, "to GET", "content-length", "6")).endsWith("\r\n\r\nto GET");
    }
}
