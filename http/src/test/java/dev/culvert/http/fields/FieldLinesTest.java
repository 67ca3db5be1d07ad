package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FieldLinesTest {
    private final FieldLines lines = new FieldLines();

    /** Each head makes one more place long; the places of all earlier ones stay. */
    @Test
    void longLinesAtManyPlacesAreNotAllKept() {
        String value = "v".repeat(3000);
        int read = 0;
        for (int place = 63; place >= 0; place--) {
            String head = "a: b\r\n".repeat(place) + "long: " + value + "\r\n\r\n";
            read += read(head) == head.length() ? 1 : 0;

            assertThat(lines.keptBytes()).isLessThanOrEqualTo(FieldLines.MAX_KEPT_BYTES);
        }

        assertThat(read).isGreaterThan(50);
        assertThat(lines.keptBytes()).isGreaterThan(3000);
    }

    @Test
    void aHeadThatNeedsMoreThanIsKeptIsDeclined() {
        String head = ("n".repeat(40) + ": b\r\n").repeat(64) + "\r\n";

        assertThat(read(head)).isEqualTo(-1);
        assertThat(lines.keptBytes()).isLessThanOrEqualTo(FieldLines.MAX_KEPT_BYTES);
    }

    @Test
    void usualLinesAreRead() {
        String head = String.join("\r\n", "Host: a.example", "Accept: */*", "Content-Length: 12",
                "Connection: Keep-Alive", "Keep-Alive: timeout=5", "x-a: b  c", "", "");

        assertThat(read(head + "rest")).isEqualTo(head.length());
        assertThat(fields()).containsExactly("accept=*/*", "content-length=12", "x-a=b  c");
        assertThat((CharSequence) lines.host()).hasToString("a.example");
        assertThat((CharSequence) lines.contentLength()).hasToString("12");
        assertThat((CharSequence) lines.keepAlive()).hasToString("timeout=5");
        assertThat(lines.count()).isEqualTo(6);
    }

    private List<String> spellings() {
        List<String> names = new ArrayList<>();
        lines.spellings(name -> names.add(name.toString()));
        return names;
    }

    @Test
    void spellingsAreNotedThatAreNotCanonical() {
        read("host: a\r\nX-Custom-ID: 1\r\nAccept: x\r\nx-custom-id: 2\r\nx-MiXeD: 3\r\n\r\n");
        assertThat(spellings()).containsExactly("X-Custom-ID", "x-MiXeD");
        assertThat(lines.isUnusuallySpelled()).isTrue();
        assertThat(lines.isLowerCase()).isFalse();

        read("host: a\r\nX-Custom-Id: 1\r\nX-CUSTOM-ID: 2\r\n\r\n");
        assertThat(spellings()).isEmpty();

        read("host: a\r\nAccept: x\r\n\r\n");
        assertThat(lines.isUnusuallySpelled()).isFalse();
        assertThat(lines.isLowerCase()).isFalse();

        read("Host: a\r\naccept: x\r\nx-custom-id: 2\r\n\r\n");
        assertThat(lines.isLowerCase()).isTrue();
    }

    @Test
    void linesThatRepeatThoseOfTheLastHeadAreTheSameObjects() {
        read("Host: a\r\nAccept: x\r\nUser-Agent: y\r\n\r\n");
        var host = lines.host();
        var agent = headers().get("user-agent");
        read("Host: a\r\nAccept: other\r\nUser-Agent: y\r\n\r\n");

        assertThat((CharSequence) lines.host()).isSameAs(host);
        assertThat(headers().get("user-agent")).isSameAs(agent);
        assertThat(headers().get("accept")).hasToString("other");
        assertThat(read("Host: a\r\n\r\n")).isEqualTo(11);
        assertThat(fields()).isEmpty();
        assertThat((CharSequence) lines.contentLength()).isNull();
    }

    /** A line that begins like one of the last head is another one. */
    @Test
    void aLongerLineIsNotTheLastHeads() {
        read("Host: a\r\nAccept: x\r\n\r\n");
        read("Host: ab\r\nAccept: xy\r\n\r\n");

        assertThat((CharSequence) lines.host()).hasToString("ab");
        assertThat(fields()).containsExactly("accept=xy");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Host: a", "Host: a\r", "Host: a\r\n", "Host: a\r\n\r", "\n\n", "\r\r",
            "Host: a\n\r\n", "Host:a\r\n\r\n", "Host:  a\r\n\r\n", "Host: a \r\n\r\n", "Host : a\r\n\r\n",
            "Host: \r\n\r\n", "Host:\r\n\r\n", " Host: a\r\n\r\n", "a: b\r\n c\r\n\r\n",
            "a: b\r\n\tc\r\n\r\n",
            ": a\r\n\r\n", "a\r\n\r\n", "a: b\rc\r\n\r\n", "a: b\u0000\r\n\r\n", "a: b\tc\r\n\r\n",
            "a: \u00e9\r\n\r\n", "a: \u007f\r\n\r\n", "\u00e9: a\r\n\r\n", "a(b: c\r\n\r\n",
            "Host: a\r\nHost: a\r\n\r\n", "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "Connection: close\r\n\r\n", "Connection: keep-alive, te\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n",
            "TE: trailers\r\n\r\n", "Upgrade: websocket\r\n\r\n", "Expect: 100-continue\r\n\r\n",
            "Trailer: x\r\n\r\n", "Proxy-Connection: keep-alive\r\n\r\n", "HTTP2-Settings: x\r\n\r\n",
            "Proxy-Authorization: x\r\n\r\n", "Proxy-Authenticate: x\r\n\r\n",
            "Keep-Alive: a\r\nKeep-Alive: b\r\n\r\n"})
    void whatIsNotWholeOrNotUsualIsDeclined(String head) {
        assertThat(read(head)).isNegative();
    }

    @Test
    void aHeadOfTooManyLinesIsDeclined() {
        assertThat(read("a: b\r\n".repeat(64) + "\r\n")).isPositive();
        assertThat(read("a: b\r\n".repeat(65) + "\r\n")).isNegative();
    }

    private int read(String head) {
        byte[] bytes = head.getBytes(StandardCharsets.ISO_8859_1);
        return lines.read(bytes, 0, bytes.length);
    }

    private Http2Headers headers() {
        var fields = new DefaultHttp2Headers(false);
        lines.addTo(fields);
        return fields;
    }

    private List<String> fields() {
        List<String> fields = new ArrayList<>();
        headers().forEach(field -> fields.add(field.getKey() + "=" + field.getValue()));
        return fields;
    }
}
