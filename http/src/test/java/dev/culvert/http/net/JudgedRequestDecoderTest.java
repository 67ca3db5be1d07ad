package dev.culvert.http.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JudgedRequestDecoderTest {
    private static final String HOST = " HTTP/1.1\r\nHost: a\r\n\r\n";

    private final List<HttpMethod> methods = new ArrayList<>();

    /** The cause of the first failure; null: all is well. */
    private @Nullable Cause decode(String bytes, int piece) {
        var channel = new EmbeddedChannel(new JudgedRequestDecoder(100, 1000, methods::add));
        for (int from = 0; from < bytes.length(); from += piece) {
            channel.writeInbound(Unpooled.copiedBuffer(
                    bytes.substring(from, Math.min(bytes.length(), from + piece)),
                    StandardCharsets.ISO_8859_1));
        }
        Cause found = null;
        for (HttpObject part = channel.readInbound(); part != null; part = channel.readInbound()) {
            if (found == null && part.decoderResult().isFailure()) {
                found = JudgedRequestDecoder.problem(part.decoderResult().cause(), Hop.EDGE).cause();
            }
            ReferenceCountUtil.release(part);
        }
        channel.finishAndReleaseAll();
        return found;
    }

    @Test
    void requestsAndTheirBodiesAreToldApart() {
        String bytes = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                + "PUT /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nHEAD /c"
                + HOST;

        for (int piece = 1; piece <= bytes.length(); piece++) {
            methods.clear();
            assertThat(decode(bytes, piece)).as("pieces of " + piece).isNull();
            assertThat(methods).containsExactly(HttpMethod.POST, HttpMethod.PUT, HttpMethod.HEAD);
        }
    }

    /** Each was accepted by the listeners of the handlers. */
    @ParameterizedTest
    @ValueSource(strings = {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n",
            "GET / http/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
            "POST / HTTP/1.0\r\nContent-Length: 30\r\nContent-Length: 0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length x: 3\r\n\r\n"})
    void whatReadsInTwoWaysFailsHoweverItComes(String bytes) {
        for (int piece = 1; piece <= bytes.length(); piece++) {
            assertThat(decode(bytes, piece)).as("pieces of " + piece).isEqualTo(Cause.BAD_REQUEST);
        }
    }

    @Test
    void aLongMethodIsNoLongTarget() {
        assertThat(decode("G".repeat(64) + " /" + HOST, 7)).isNull();
        assertThat(decode("G".repeat(65) + " /" + HOST, 7)).isEqualTo(Cause.BAD_REQUEST);
        assertThat(decode("G".repeat(5000) + " /" + HOST, 5000)).isEqualTo(Cause.BAD_REQUEST);
        assertThat(decode("GET /" + "a".repeat(200) + HOST, 50)).isEqualTo(Cause.URI_TOO_LONG);
        assertThat(decode("GET / HTTP/1.1\r\nX: " + "a".repeat(1001) + "\r\n\r\n", 50))
                .isEqualTo(Cause.HEAD_TOO_LARGE);
    }
}
