package dev.culvert.relay.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.testing.HeadMutations;
import dev.culvert.relay.upstream.UpstreamLimits;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/**
 * What the reader of whole responses takes, the strict decoder takes, too, as the same response. {@code -Dculvert.fuzz=N} tries
 * N heads; {@code -Dculvert.fuzz.seed=S} others.
 */
class WholeResponseFuzzTest {
    private static final int MAX_BODY = 64 << 10;
    private static final String BODY = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
    private static final List<String> FIRST = List.of("HTTP/1.1 200 OK", "HTTP/1.1 200 ",
            "HTTP/1.1 404 Not Found",
            "HTTP/1.1 500 Oh, no", "HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified",
            "HTTP/1.1 100 Continue",
            "HTTP/1.1 101 Switching Protocols", "HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 999 Odd");
    private static final List<String> LINES = List.of("Content-Length: 0", "Content-Length: 5",
            "Content-Length: 5",
            "Content-Length: 12", "content-length: 05", "Content-Length: +5", "Content-Length: 5, 5",
            "Content-Type: text/plain", "Server: nginx", "Date: Sun, 22 Nov 2026 00:00:00 GMT",
            "Connection: keep-alive", "Connection: close", "Keep-Alive: timeout=5",
            "Transfer-Encoding: chunked",
            "ETag: \"x\"", "Set-Cookie: a=b", "Set-Cookie: c=d", "Trailer: x", "Upgrade: h2c",
            "Vary: accept", "Host: a");

    private final WholeResponseReader reader = new WholeResponseReader(MAX_BODY);
    private Http1ResponseDecoder decoder = new Http1ResponseDecoder(UpstreamLimits.defaults());
    private final EmbeddedChannel strict = new EmbeddedChannel(decoder);

    @Test
    void whatIsReadWholeHasTheSameMeaning() {
        long inputs = Long.getLong("culvert.fuzz", 60_000);
        var heads = new HeadMutations(Long.getLong("culvert.fuzz.seed", 1), FIRST, LINES);
        byte[] body = BODY.getBytes(StandardCharsets.ISO_8859_1);
        long taken = 0;
        for (long i = 0; i < inputs; i++) {
            byte[] head = heads.next();
            byte[] message = Arrays.copyOf(head, head.length + body.length);
            System.arraycopy(body, 0, message, head.length, body.length);
            ByteBuf in = Unpooled.wrappedBuffer(message);
            WholeResponse whole = reader.read(in);
            if (whole != null) {
                taken++;
                requireSame(whole, Unpooled.wrappedBuffer(message, 0, in.readerIndex()));
                whole.body().release();
            } else {
                assertThat(in.readerIndex()).isZero();
            }
        }
        assertThat(taken).isGreaterThan(inputs / 60);
        strict.finishAndReleaseAll();
    }

    /** The first byte comes alone, so that the decoder can't read the response whole. */
    private void requireSame(WholeResponse whole, ByteBuf read) {
        String text = read.toString(StandardCharsets.ISO_8859_1);
        decoder.expect(false);
        strict.writeInbound(read.readRetainedSlice(1));
        strict.writeInbound(read);
        HttpResponse response = strict.readInbound();
        if (response == null || response.decoderResult().isFailure() || !HttpUtil.isKeepAlive(response)
                || Http1UpstreamResponse.endsWithConnection(response, false)
                || response.status().code() < 200) {
            throw new AssertionFailedError("not one response that keeps the connection: " + text);
        }
        var body = new StringBuilder();
        HttpContent part = strict.readInbound();
        while (part != null && !(part instanceof LastHttpContent)) {
            body.append(part.content().toString(StandardCharsets.ISO_8859_1));
            part.release();
            part = strict.readInbound();
        }
        if (part == null || strict.readInbound() != null) {
            throw new AssertionFailedError("not whole, or more than one: " + text);
        }
        body.append(part.content().toString(StandardCharsets.ISO_8859_1));
        part.release();
        String expected = text(Http1UpstreamResponse.of(response, false)) + body + '\n'
                + response.headers().get("keep-alive");
        String actual = text(whole.fields()) + whole.body().toString(StandardCharsets.ISO_8859_1) + '\n'
                + whole.keepAlive();
        if (!actual.equals(expected)) {
            throw new AssertionFailedError(text, expected, actual);
        }
    }

    private static String text(Http2Headers fields) {
        var text = new StringBuilder().append(fields.status()).append('\n');
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            if (field.getKey().charAt(0) != ':') {
                text.append(field.getKey()).append('=').append(field.getValue()).append('\n');
            }
        }
        return text.toString();
    }
}
