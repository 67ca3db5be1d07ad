package dev.culvert.http.fields;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages, whole and octet by octet: the verdict is the same. */
class Http1GrammarTest {
    private static final String OK = "HTTP/1.1 200 OK\r\n";

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n\r\nGET / HTTP/1.0\r\n\r\n",
            "POST /?a HTTP/1.1\r\nContent-Length: 05\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n",
            "POST * HTTP/1.1\r\ntransfer-ENCODING:\t CHUNKED \r\n\r\n5 \t;a=b\r\nhello\r\n00\r\nX: y\r\n\r\n",
            "GET / HTTP/1.1\r\nX:\r\nTransfer-Encodings: gzip\r\nContent-Lengt: x\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n"})
    void requestsThatReadInOneWayAreWhole(String requests) {
        Http1Grammar grammar = judged(Http1Grammar::ofRequests, requests);

        assertThat(grammar.fault()).isNull();
        assertThat(grammar.isBetweenMessages()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\nGET / HTTP/1.1\r\n", " GET / HTTP/1.1\r\n", "GET  / HTTP/1.1\r\n",
            "GET / HTTP/1.1 \r\n", "GET /  HTTP/1.1\r\n", "GET /\tHTTP/1.1\r\n", "GET / HTTP/9.9\r\n",
            "GET / http/1.1\r\n",
            "GET /\r\n", "GET  HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "GET / HTTP/1.1\n",
            "GET / HTTP/1.1\r\n X: folded\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
            "GET / HTTP/1.0\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
            "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 6\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"})
    void requestsThatReadInTwoWaysAreAtFault(String request) {
        assertThat(judged(Http1Grammar::ofRequests, request + "X: y\r\n\r\n").fault()).isNotNull();
    }

    /** CVE-2023-39326: each octet of data arrives with thousands that nobody reads. */
    @Test
    void extensionsAreBoundedByTheirData() {
        String head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        String padded = "1;" + "a".repeat(4000) + "\r\nx\r\n";
        String fair = "800;" + "a".repeat(4000) + "\r\n" + "x".repeat(0x800) + "\r\n";

        assertThat(judged(Http1Grammar::ofRequests, head + padded.repeat(8) + "0\r\n\r\n").fault()).isNull();
        assertThat(judged(Http1Grammar::ofRequests, head + padded.repeat(9)).fault())
                .isEqualTo("the chunk extensions are too long for the data");
        assertThat(judged(Http1Grammar::ofRequests, head + fair.repeat(50) + "0\r\n\r\n").fault()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {OK + "Content-Length: 5\r\n\r\nhello",
            "HTTP/1.1 999\r\nContent-Length: 0\r\n\r\n",
            OK + "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.0 304 \r\nContent-Length: 9\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.2 200 OK\r\nX : y\r\nContent-Length \t: 2\r\n\r\nhi",
            "HTTP/1.1 205 Reset\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"})
    void responsesThatReadInOneWayAreWhole(String response) {
        Http1Grammar grammar = judged(Http1GrammarTest::responses, response);

        assertThat(grammar.fault()).isNull();
        assertThat(grammar.isBetweenMessages()).isTrue();
        assertThat(judged(Http1GrammarTest::responses, response + "H").fault())
                .isEqualTo("octets behind the response");
    }

    @Test
    void aResponseWithoutLengthLastsAsItsConnection() {
        Http1Grammar grammar = judged(Http1GrammarTest::responses,
                "HTTP/1.0 200 OK\r\n\r\nuntil\0 the end\r\n\n");

        assertThat(grammar.fault()).isNull();
        assertThat(grammar.isBetweenMessages()).isFalse();
    }

    @Test
    void aResponseToHeadHasNoBody() {
        Http1Grammar grammar = Http1Grammar.ofResponses();
        ByteBuf head = Unpooled.copiedBuffer(OK + "Content-Length: 5\r\n\r\n", StandardCharsets.US_ASCII);
        grammar.expect(true);

        grammar.take(head, 0, head.readableBytes());

        assertThat(grammar.isBetweenMessages()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"\r\n" + OK + "\r\n", "HTTP/1.1 +200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n",
            "HTTP/9.9 200 OK\r\n\r\n",
            "http/1.1 200 OK\r\n\r\n", "200 OK\r\n\r\n", OK + "Content-Length x: 5\r\n\r\n",
            OK + ": x\r\n\r\n",
            OK + "X x: y\r\n\r\n", "HTTP/1.1 200 OK\n\r\n", "HTTP/1.1 200\n\r\n", OK + "X: y\r\n z\r\n\r\n",
            OK + "X: a\0\r\n\r\n", OK + "X: a\r\r\n\r\n",
            OK + "X: a\n\r\n", OK + "X\r\n\r\n",
            OK + "Content-Length: 5, 5\r\n\r\n", OK + "Content-Length: +5\r\n\r\n",
            OK + "Content-Length: \r\n\r\n",
            OK + "Content-Length: 9223372036854775808\r\n\r\n", OK + "Transfer-Encoding: gzip\r\n\r\n",
            OK + "Transfer-Encoding: chunked, identity\r\n\r\n",
            "HTTP/1.1 205 Reset\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 100 Go\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            OK + "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n"})
    void responsesThatReadInTwoWaysAreAtFault(String response) {
        assertThat(judged(Http1GrammarTest::responses, response).fault()).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0x5\r\n", "+5\r\n", " 5\r\n", "5 \r\n", "5\n", "5\rx", "\r\n", "5\r\nhellox",
            "5\r\nhello\n",
            "5;\0\r\n", "1000000000000000\r\n"})
    void chunksAreReadToTheLetter(String chunk) {
        assertThat(judged(Http1GrammarTest::responses, OK + "Transfer-Encoding: chunked\r\n\r\n" + chunk)
                .fault()).isNotNull();
    }

    @Test
    void tellsWhereTheFaultIs() {
        ByteBuf in = Unpooled.copiedBuffer("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nX : y",
                StandardCharsets.US_ASCII);

        assertThat(Http1Grammar.ofRequests().take(in, 0, in.readableBytes())).isEqualTo(35);
    }

    private static Http1Grammar responses() {
        Http1Grammar grammar = Http1Grammar.ofResponses();
        grammar.expect(false);
        return grammar;
    }

    private static Http1Grammar judged(Supplier<Http1Grammar> judge, String text) {
        ByteBuf in = Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
        Http1Grammar whole = judge.get();
        whole.take(in, 0, in.readableBytes());
        Http1Grammar cut = judge.get();
        for (int i = 0; i < in.readableBytes(); i++) {
            cut.take(in, i, i + 1);
        }
        assertThat(cut.fault()).isEqualTo(whole.fault());
        assertThat(cut.isBetweenMessages()).isEqualTo(whole.isBetweenMessages());
        return whole;
    }
}
