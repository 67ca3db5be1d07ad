package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.inbound.EmbeddedEdge;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What could be read in two ways is answered, never forwarded, and ends the connection. */
class EdgeRequestHeadTest {
    private static final String HOST = "Host: acme.example\r\n";
    /** A whole request that must not be served behind one that could be read in two ways. */
    private static final String SMUGGLED = "GET /smuggled HTTP/1.1\r\n" + HOST + "\r\n";

    private final EmbeddedEdge edge = new EmbeddedEdge();

    @AfterEach
    void close() {
        edge.close();
    }

    static Stream<Arguments> attacks() {
        String tail = "\r\n0\r\n\r\n" + SMUGGLED;
        return Stream.of(
                arguments("both lengths", post("Content-Length: 5", "Transfer-Encoding: chunked") + tail),
                arguments("both lengths, TE first",
                        post("Transfer-Encoding: chunked", "Content-Length: 5") + tail),
                arguments("two lengths", post("Content-Length: 5", "Content-Length: 6") + "hello" + SMUGGLED),
                arguments("the same length twice",
                        post("Content-Length: 5", "Content-Length: 5") + "hello" + SMUGGLED),
                arguments("a list of lengths", post("Content-Length: 5, 6") + "hello" + SMUGGLED),
                arguments("a list of one length", post("Content-Length: 5, 5") + "hello" + SMUGGLED),
                arguments("a length with a sign", post("Content-Length: +5") + "hello" + SMUGGLED),
                arguments("a negative length", post("Content-Length: -5") + "hello" + SMUGGLED),
                arguments("a hexadecimal length", post("Content-Length: 0x5") + "hello" + SMUGGLED),
                arguments("a length that overflows",
                        post("Content-Length: 18446744073709551621") + "hello" + SMUGGLED),
                arguments("an empty length", post("Content-Length:") + SMUGGLED),
                arguments("a blank length", post("Content-Length: ") + SMUGGLED),
                arguments("a length of another script", post("Content-Length: \u00b2") + SMUGGLED),
                arguments("an unknown coding", post("Transfer-Encoding: xchunked") + tail),
                arguments("a coding behind chunked", post("Transfer-Encoding: chunked, identity") + tail),
                arguments("a coding before chunked", post("Transfer-Encoding: gzip, chunked") + tail),
                arguments("chunked twice", post("Transfer-Encoding: chunked, chunked") + tail),
                arguments("chunked in two fields",
                        post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + tail),
                arguments("chunked, then another in a second field",
                        post("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + tail),
                arguments("an empty coding", post("Transfer-Encoding:") + tail),
                arguments("a coding in quotes", post("Transfer-Encoding: \"chunked\"") + tail),
                arguments("a coding behind a tab", post("Transfer-Encoding: \u000bchunked") + tail),
                arguments("identity", post("Transfer-Encoding: identity") + SMUGGLED),
                arguments("chunked in HTTP/1.0",
                        "POST / HTTP/1.0\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n" + tail),
                arguments("a folded field", get("X: a", " b") + SMUGGLED),
                arguments("a field folded by a tab", get("X: a", "\tb") + SMUGGLED),
                arguments("a folded coding", post("Transfer-Encoding:", " chunked") + tail),
                arguments("a fold before the first field",
                        "GET / HTTP/1.1\r\n " + HOST + HOST + "\r\n" + SMUGGLED),
                arguments("a space before a colon", get("X : a") + SMUGGLED),
                arguments("a space before the length's colon",
                        post("Content-Length : 5") + "hello" + SMUGGLED),
                arguments("a tab before a colon", get("X\t: a") + SMUGGLED),
                arguments("a field without a colon", get("X") + SMUGGLED),
                arguments("a field without a name", get(": a") + SMUGGLED),
                arguments("a name with a space", get("X Y: a") + SMUGGLED),
                arguments("a name that is no token", get("X(Y): a") + SMUGGLED),
                arguments("a name with a byte above ASCII", get("X\u00e4: a") + SMUGGLED),
                arguments("a NUL in a field", get("X: a\0b") + SMUGGLED),
                arguments("a NUL in a name", get("X\0: ab") + SMUGGLED),
                arguments("a CR in a field", get("X: a\rb") + SMUGGLED),
                arguments("a control character in a field", get("X: a\u0001b") + SMUGGLED),
                arguments("bare LF behind the request line", "GET / HTTP/1.1\n" + HOST + "\r\n" + SMUGGLED),
                arguments("bare LF behind a field", "GET / HTTP/1.1\r\nHost: acme.example\n\r\n" + SMUGGLED),
                arguments("bare LF behind the head", "GET / HTTP/1.1\r\n" + HOST + "\n" + SMUGGLED),
                arguments("bare CR behind the request line", "GET / HTTP/1.1\r" + HOST + "\r\n" + SMUGGLED),
                arguments("no host", "GET / HTTP/1.1\r\n\r\n" + SMUGGLED),
                arguments("no host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n" + SMUGGLED),
                arguments("two hosts", get("Host: acme.example") + SMUGGLED),
                arguments("two different hosts", get("Host: other.example") + SMUGGLED),
                arguments("an HTTP/2 request line", "GET / HTTP/2.0\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SMUGGLED),
                arguments("an unknown version", "GET / HTTP/1.2\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("an old version", "GET / HTTP/0.9\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("another protocol", "GET / RTSP/1.0\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("a lower-case protocol", "GET / http/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("no version", "GET /\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("no target", "GET  HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("two spaces before the target", "GET  / HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("a tab before the target", "GET\t/ HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("a space in the target", "GET /a b HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("a space before the method", " GET / HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("a method that is no token", "G@T / HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED),
                arguments("a NUL in the method", "G\0T / HTTP/1.1\r\n" + HOST + "\r\n" + SMUGGLED));
    }

    private static String post(String... fields) {
        return "POST / HTTP/1.1\r\n" + HOST + String.join("\r\n", fields) + "\r\n\r\n";
    }

    private static String get(String... fields) {
        return "GET / HTTP/1.1\r\n" + HOST + String.join("\r\n", fields) + "\r\n\r\n";
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void anAmbiguousHeadIsAnswered400AndNothingIsForwarded(String what, String bytes) {
        String answer = edge.send(bytes);

        assertThat(answers(answer)).containsExactly(400);
        assertThat(answer).contains("Connection: close", "urn:culvert:problem:bad-request",
                "\"hop\":\"edge\"");
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.isOpen()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("attacks")
    void anAmbiguousHeadThatArrivesByteByByteIsNotForwardedEither(String what, String bytes) {
        var answer = new StringBuilder();
        for (int i = 0; i < bytes.length() && edge.isOpen(); i++) {
            answer.append(edge.send(bytes.substring(i, i + 1)));
        }

        assertThat(answers(answer.toString())).containsExactly(400);
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.isOpen()).isFalse();
    }

    /** The status codes of all answers in {@code text}. */
    static int[] answers(String text) {
        return Pattern.compile("HTTP/1\\.1 (\\d{3}) ")
                .matcher(text)
                .results()
                .mapToInt(result -> Integer.parseInt(result.group(1)))
                .toArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"zz", "-5", "+5", "0x5", "5\n", "ffffffffffffffffff", "", " 5", "5\rX",
            "5;a\nb"})
    void aBadChunkSizeIsAnswered400AndCancelsTheRequest(String size) {
        // A first chunk that is good: without it nothing of the request goes anywhere.
        String answer = edge.send(post("Transfer-Encoding: chunked") + "2\r\nab\r\n" + size
                + "\r\nhello\r\n0\r\n\r\n" + SMUGGLED);

        assertThat(answers(answer)).containsExactly(400);
        assertThat(edge.relay.all).hasSize(1);
        assertThat(edge.only().cancelled).isNotNull();
        assertThat(edge.only().ended).isFalse();
        assertThat(edge.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n", "5\r\nhello\n0\r\n\r\n",
            "5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n", "5\r\nhello\r\n0\r\nX : a\r\n\r\n",
            "5\r\nhello\r\n0\r\nX: a\0\r\n\r\n", "5\r\nhello\r\n0\r\nX: a\n\r\n", "5\r\nhello\r\n0\n\r\n"})
    void aBadChunkOrTrailerIsAnswered400AndCancelsTheRequest(String body) {
        String answer = edge.send(post("Transfer-Encoding: chunked") + body + SMUGGLED);

        assertThat(answers(answer)).containsExactly(400);
        assertThat(edge.relay.all).hasSize(1);
        assertThat(edge.only().cancelled).isNotNull();
        assertThat(edge.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a,b", "a/b", "user@acme.example", "acme.example:", "acme.example:x",
            "acme.example:1:2", "acme.example:123456", ":443", "[::1", "::1", "a]b", "[acme.example]",
            "a%2eb",
            "a\\b", "a?b", "a#b", "\u00e4.example"})
    void aBadHostIs400(String host) {
        String answer = edge.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");

        assertThat(EmbeddedEdge.status(answer)).isEqualTo(400);
        assertThat(edge.relay.all).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"acme.example", "ACME.example", "acme.example.", "acme.example:8443",
            "Acme.Example.:1"})
    void aHostIsComparedWithoutPortCaseAndTrailingDot(String host) {
        edge.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");

        assertThat(edge.only().request.fields().authority()).hasToString(host);
    }

    @ParameterizedTest
    @ValueSource(strings = {"other.example", "acme.example.other", "127.0.0.1:8443", "[::1]:8443", "a_b.c"})
    void anUnknownHostIs404AndTheConnectionGoesOn(String host) {
        String answer = edge.send("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");

        assertThat(EmbeddedEdge.status(answer)).isEqualTo(404);
        assertThat(answer).contains("urn:culvert:problem:unknown-host", "\"hop\":\"edge\"");
        assertThat(edge.isOpen()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://acme.example/a?b", "https://ACME.example/a?b",
            "HTTPS://acme.example/a?b"})
    void anAbsoluteTargetOfTheSameHostIsServed(String target) {
        edge.send("GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n");

        assertThat(edge.only().path()).isEqualTo("/a?b");
    }

    @Test
    void anAbsoluteTargetWithoutAPathAsksForTheRoot() {
        edge.send("GET http://acme.example?x HTTP/1.1\r\n" + HOST + "\r\n");

        assertThat(edge.only().path()).isEqualTo("/?x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://other.example/", "http://acme.example:1/", "http://user@acme.example/",
            "http://acme.example#/", "http:///", "ftp://acme.example/", "acme.example", "*", "?a", "/a#b",
            "/a\u00e4", "//acme.example@x:y", "javascript://acme.example/"})
    void aTargetOfAnotherFormOrHostIs400(String target) {
        String answer = edge.send("GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n");

        boolean path = target.startsWith("//");
        assertThat(EmbeddedEdge.status(answer)).isEqualTo(path ? 0 : 400);
        assertThat(edge.relay.all).hasSize(path ? 1 : 0);
    }

    @Test
    void optionsOfTheServerIsForwarded() {
        edge.send("OPTIONS * HTTP/1.1\r\n" + HOST + "\r\n");

        assertThat(edge.only().path()).isEqualTo("*");
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONNECT acme.example:443", "CONNECT /", "TRACE /"})
    void connectAndTraceAre405(String line) {
        String answer = edge.send(line + " HTTP/1.1\r\n" + HOST + "\r\n");

        assertThat(EmbeddedEdge.status(answer)).isEqualTo(405);
        assertThat(answer).contains("Allow: GET", "urn:culvert:problem:method-not-allowed");
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void anHttp10RequestIsServedAndItsConnectionCloses() {
        edge.send("GET / HTTP/1.0\r\n" + HOST + "\r\n");
        edge.only().head("200", false).body("ok").end();
        String answer = edge.written();

        assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").doesNotContain("chunked").endsWith("\r\n\r\nok");
        assertThat(answer).contains("Connection: close");
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void anHttp10ConnectionIsKeptWhenItsCallerAsksAndTheLengthIsKnown() {
        edge.send("GET / HTTP/1.0\r\n" + HOST + "Connection: keep-alive\r\n\r\n");
        edge.only().ok("ok");

        assertThat(edge.written()).contains("Connection: keep-alive");
        assertThat(edge.isOpen()).isTrue();
    }

    @Test
    void anOverlongTargetIs414() {
        String answer = edge
                .send("GET /" + "a".repeat(16 << 10) + " HTTP/1.1\r\n" + HOST + "\r\n");

        assertThat(answers(answer)).containsExactly(414);
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void anEndlessTargetIs414() {
        String answer = edge.send("GET /" + "a".repeat(64 << 10));

        assertThat(EmbeddedEdge.status(answer)).isEqualTo(414);
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void theLongestTargetIsServed() {
        String target = "/" + "a".repeat((16 << 10) - 1);
        edge.send("GET " + target + " HTTP/1.1\r\n" + HOST + "\r\n");

        assertThat(edge.only().path()).isEqualTo(target);
    }

    @Test
    void anOverlongHeadIs431() {
        String answer = edge.send(get("X: " + "a".repeat(64 << 10)) + SMUGGLED);

        assertThat(answers(answer)).containsExactly(431);
        assertThat(answer).contains("urn:culvert:problem:head-too-large");
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void tooManyFieldsAre431() {
        String answer = edge.send(get("X: a\r\n".repeat(99) + "X: a"));

        assertThat(EmbeddedEdge.status(answer)).isEqualTo(431);
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aHundredFieldsAreServed() {
        edge.send(get("X: a\r\n".repeat(98) + "X: a"));

        assertThat(edge.relay.all).hasSize(1);
    }

    @Test
    void noRequestIsServedBehindARefusedOneThatClosesTheConnection() {
        String answer = edge.send("POST / HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n"
                + "Content-Length: 5\r\n\r\nhello" + SMUGGLED);

        assertThat(answers(answer)).containsExactly(404);
        assertThat(edge.relay.all).isEmpty();
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void noRequestIsServedBehindOneThatClosesTheConnection() {
        edge.relay.answer(exchange -> exchange.ok("first"));
        String answer = edge.send(get("Connection: close") + SMUGGLED);

        assertThat(answers(answer)).containsExactly(200);
        assertThat(edge.relay.all).hasSize(1);
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void anUnknownUpgradeIsDropped() {
        edge.send(get("Connection: Upgrade, X-Secret", "Upgrade: h2c", "X-Secret: 1", "HTTP2-Settings: x"));

        assertThat(edge.only().request.kind()).isEqualTo(RelayRequest.Kind.HTTP);
        assertThat(edge.only().request.fields().contains("upgrade")).isFalse();
        assertThat(edge.only().request.fields().contains("connection")).isFalse();
        assertThat(edge.only().request.fields().contains("x-secret")).isFalse();
        assertThat(edge.only().request.fields().contains("http2-settings")).isFalse();
    }
}
