package dev.culvert.relay.inbound.http1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.relay.exchange.EdgeRequestHead;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.HeadMutations;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.opentest4j.AssertionFailedError;

/**
 * What the reader of whole requests takes, the strict decoder takes, too, as the same request. {@code -Dculvert.fuzz=N} tries
 * N heads; {@code -Dculvert.fuzz.seed=S} others.
 */
class WholeRequestFuzzTest {
    private static final CallerLimits LIMITS = CallerLimits.defaults();
    private static final String HOST = "GET / HTTP/1.1\r\nHost: a.example";
    private static final List<String> FIRST = List.of("GET / HTTP/1.1", HOST, HOST, HOST,
            "GET /a/b?c=d HTTP/1.1\r\nHost: a.example:8443", "HEAD /x HTTP/1.1\r\nHost: b",
            "GET /%2e HTTP/1.1", "POST / HTTP/1.1", "GET http://a.example/ HTTP/1.1", "GET * HTTP/1.1",
            "GET / HTTP/1.0", "OPTIONS * HTTP/1.1");
    private static final List<String> LINES = List.of("Accept: */*", "Accept: text/html", "User-Agent: x",
            "Accept-Language: en",
            "Referer: https://a.example/", "X-B: 2", "X-C: 3", "If-None-Match: \"x\"", "Host: a.example",
            "Host: [::1]", "Host: b", "host: a_b", "Accept: */*", "User-Agent: curl/8",
            "Connection: keep-alive",
            "Connection: Keep-Alive", "Connection: close", "Connection: accept", "Content-Length: 0",
            "Content-Length: 5", "Transfer-Encoding: chunked", "Keep-Alive: timeout=5", "Cookie: a=b; c=d",
            "X-A: 1",
            "x-a: 1", "TE: trailers", "Upgrade: websocket", "Expect: 100-continue",
            "Accept-Encoding: gzip, deflate",
            "Via: 1.1 other", "X-Forwarded-For: 192.0.2.1", "Proxy-Connection: keep-alive");

    private final WholeRequestReader reader = new WholeRequestReader(LIMITS);
    private EmbeddedChannel strict = strict();

    private static EmbeddedChannel strict() {
        var decoder = new Http1RequestDecoder(LIMITS);
        decoder.decline(target -> true);
        return new EmbeddedChannel(decoder);
    }

    @Test
    void whatIsReadWholeHasTheSameMeaning() {
        long inputs = Long.getLong("culvert.fuzz", 60_000);
        var heads = new HeadMutations(Long.getLong("culvert.fuzz.seed", 1), FIRST, LINES);
        long taken = 0;
        for (long i = 0; i < inputs; i++) {
            byte[] head = heads.next();
            ByteBuf in = Unpooled.wrappedBuffer(head);
            WholeRequest whole = reader.read(in);
            if (whole != null) {
                taken++;
                requireSame(whole, Unpooled.wrappedBuffer(head, 0, in.readerIndex()));
            } else {
                assertThat(in.readerIndex()).isZero();
            }
        }
        assertThat(taken).isGreaterThan(inputs / 20);
        strict.finishAndReleaseAll();
    }

    private void requireSame(WholeRequest whole, ByteBuf read) {
        String text = read.toString(StandardCharsets.ISO_8859_1);
        strict.writeInbound(read);
        HttpRequest request = strict.readInbound();
        boolean alone = request != null && LastHttpContent.EMPTY_LAST_CONTENT.equals(strict.readInbound())
                && strict.readInbound() == null;
        if (!alone || request.decoderResult().isFailure() || !HttpUtil.isKeepAlive(request)) {
            throw new AssertionFailedError("not one request that keeps the connection: " + text);
        }
        EdgeRequestHead head = EdgeRequestHead.of(request, "https", LIMITS);
        ForwardingRules.response(head.fields(), false); // removes the fields of this hop
        String expected = request.method() + " " + head.host() + " " + head.upgrade() + " "
                + text(head.fields());
        String actual = whole.method() + " " + whole.host() + " false "
                + text(whole.fields().scheme("https"));
        if (!actual.equals(expected)) {
            throw new AssertionFailedError(text, expected, actual);
        }
    }

    private static String text(Http2Headers fields) {
        var text = new StringBuilder().append(fields.method())
                .append(' ')
                .append(fields.scheme())
                .append(' ')
                .append(fields.authority())
                .append(' ')
                .append(fields.path())
                .append('\n');
        for (Map.Entry<CharSequence, CharSequence> field : fields) {
            if (field.getKey().charAt(0) != ':') {
                text.append(field.getKey()).append('=').append(field.getValue()).append('\n');
            }
        }
        return text.toString();
    }
}
