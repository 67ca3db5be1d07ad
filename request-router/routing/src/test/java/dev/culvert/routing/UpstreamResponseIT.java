package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.routing.RawUpstream.Peer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses, as the asker gets them. */
class UpstreamResponseIT {
    private static final String CHUNKED = head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked");

    @AutoClose
    private final Loopback loopback = new Loopback();

    private Peer requested() {
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        return peer;
    }

    @Test
    void chunksArriveAsTheyAreSentAndTrailersAtTheEnd() {
        Asker asker = loopback.get();
        Peer peer = requested().write(CHUNKED);

        asker.awaitHead();
        peer.write("6\r\nfirst \r\n");
        asker.awaitBody("first ");
        peer.write("6;x=y\r\nsecond\r\n");
        asker.awaitBody("first second");
        peer.write("0\r\nX-Sum: 42\r\n\r\n");

        asker.awaitEnd();
        assertThat(asker.trailer("x-sum")).isEqualTo("42");
        assertThat(asker.field("transfer-encoding")).isNull();
    }

    @Test
    void aBodyWithoutLengthEndsWithItsConnection() {
        Asker asker = loopback.get();
        Peer peer = requested().write(head("HTTP/1.0 200 OK") + "until the end");

        asker.awaitBody("until the end");
        assertThat(asker.ended).isFalse();
        peer.close();

        asker.awaitEnd();
    }

    @ParameterizedTest
    @ValueSource(strings = {"204 No Content\r\ncontent-length: 0", "304 Not Modified\r\ncontent-length: 5",
            "304 Not Modified\r\ntransfer-encoding: chunked", "205 Reset Content\r\ncontent-length: 0"})
    void someResponsesHaveNoBody(String status) {
        Asker asker = loopback.get();
        Peer peer = requested().write(head("HTTP/1.1 " + status));

        asker.awaitEnd();
        assertThat(asker.body()).isEmpty();
        Asker next = loopback.get();
        Loopback.answer(peer);
        next.awaitEnd();
    }

    @ParameterizedTest
    @ValueSource(strings = {"transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            "transfer-encoding: chunked\r\n\r\n", "content-length: 5\r\n\r\nhello",
            "content-length: 5\r\n\r\n"})
    void a204IsServedWhateverItsFramingSays(String framing) {
        Asker asker = loopback.get();
        requested().write("HTTP/1.1 204 No Content\r\n" + framing);

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("204");
        assertThat(asker.body()).isEmpty();
        assertThat(asker.field("content-length")).isNull();
        assertThat(asker.field("transfer-encoding")).isNull();
        Asker next = loopback.get();
        Loopback.answer(loopback.upstream.accept()); // on a connection of its own
        next.awaitEnd();
        assertThat(next.body()).isEqualTo("ok");
    }

    @Test
    void spacesBeforeColonsAndLaterVersionsAreRead() {
        Asker asker = loopback.get();
        requested().write("HTTP/1.2 200 OK\r\nX-A \t: 1\r\nContent-Length : 2\r\n\r\nok");

        asker.awaitEnd();
        assertThat(asker.field("x-a")).isEqualTo("1");
        assertThat(asker.body()).isEqualTo("ok");
    }

    @Test
    void linesThatEndInLfAloneAreTold() {
        Asker asker = loopback.get();
        requested().write("HTTP/1.1 200 OK\nContent-Length: 2\n\nok");

        assertThat(asker.awaitProblem().detail()).contains("a line ends in LF alone");
    }

    @Test
    void a205ThatIsChunkedEndsWithItsHead() {
        Asker asker = loopback.get();
        Peer peer = requested()
                .write(head("HTTP/1.1 205 Reset Content", "transfer-encoding: chunked") + "0\r\n\r\n");

        asker.awaitEnd();
        assertThat(asker.body()).isEmpty();
        Asker next = loopback.get();
        Loopback.answer(peer);
        next.awaitEnd();
    }

    @Test
    void aResponseToHeadKeepsItsLengthAndHasNoBody() {
        Asker asker = loopback.asker().open(Kind.HTTP, "HEAD", "/", true);
        Peer peer = requested().write(head("HTTP/1.1 200 OK", "content-length: 1000"));

        asker.awaitEnd();
        assertThat(asker.field("content-length")).isEqualTo("1000");
        Asker next = loopback.get();
        Loopback.answer(peer);
        next.awaitEnd();
        assertThat(next.body()).isEqualTo("ok");
    }

    @Test
    void informationalHeadsComeBeforeTheFinalOne() {
        Asker asker = loopback.open("POST", "expect", "100-continue", "content-length", "2");
        Peer peer = loopback.upstream.accept();
        assertThat(peer.readHead()).contains("Expect: 100-continue");

        peer.write(head("HTTP/1.1 103 Early Hints", "link: </x>") + head("HTTP/1.1 100 Continue"));
        await().until(() -> asker.informational.size() == 2);
        asker.send("hi").finish();
        assertThat(peer.read(2)).isEqualTo("hi");
        peer.write(head("HTTP/1.1 200 OK", "content-length: 0"));

        asker.awaitEnd();
        assertThat(asker.informational.getFirst().get("link")).hasToString("</x>");
    }

    @Test
    void whatIsForOneHopOnlyDoesNotCross() {
        Asker asker = loopback.get();
        requested().write(head("HTTP/1.1 200 OK", "Connection: keep-alive, X-Secret", "X-Secret: 1",
                "Keep-Alive: timeout=5", "Upgrade: h2c", "Proxy-Connection: x", "Set-Cookie: a=1",
                "Set-Cookie: b=2",
                "Content-Length: 0"));

        asker.awaitEnd();
        assertThat(asker.fields("set-cookie")).containsExactly("a=1", "b=2");
        assertThat(Stream.of("connection", "x-secret", "keep-alive", "upgrade", "proxy-connection")
                .map(asker::field))
                .containsOnlyNulls();
    }

    static Stream<String> badResponses() {
        return Stream.of("no http at all\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n",
                "HTTP/1.1 abc OK\r\n\r\n",
                head("HTTP/1.1 200 OK", "x a: b", "content-length: 0"),
                head("HTTP/1.1 200 OK", "content-length: 1", "transfer-encoding: chunked"),
                head("HTTP/1.1 200 OK", "content-length: 1", "content-length: 2"),
                head("HTTP/1.1 200 OK", "content-length: x"), head("HTTP/1.1 200 OK", "content-length: -1"),
                head("HTTP/1.1 200 OK", "transfer-encoding: gzip, chunked"),
                head("HTTP/1.1 200 OK", "transfer-encoding: gzip"),
                head("HTTP/1.1 200 OK", ": c"),
                head("HTTP/1.1 101 Switching Protocols", "connection: upgrade", "upgrade: websocket"),
                "HTTP/1.1 200 " + "y".repeat(9 << 10) + "\r\n\r\n", head("HTTP/1.1 100 Continue").repeat(33));
    }

    @ParameterizedTest
    @MethodSource("badResponses")
    void whatIsNoHttpIsTold(String response) {
        Asker asker = loopback.get();
        Peer peer = requested().write(response);

        Problem problem = asker.awaitProblem();

        assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_BAD_RESPONSE);
        assertThat(problem.hop()).isEqualTo(Hop.UPSTREAM);
        assertThat(asker.head).isNull();
        assertThat(peer.read()).isEqualTo(-1);
    }

    @Test
    void aHeadAtTheLimitsPasses() {
        Asker asker = loopback.get();
        requested().write("HTTP/1.1 200 OK\r\n" + fields(255, 500) + "content-length: 0\r\n\r\n");
        asker.awaitEnd();
    }

    static Stream<String> largeHeads() {
        return Stream.of(fields(257, 1), fields(2, 70 << 10));
    }

    @ParameterizedTest
    @MethodSource("largeHeads")
    void aLargerHeadIsToldWithItsLimit(String fields) {
        Asker asker = loopback.get();
        Peer peer = requested().write("HTTP/1.1 200 OK\r\n" + fields + "\r\n");

        Problem problem = asker.awaitProblem();

        assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_BAD_RESPONSE);
        assertThat(problem.detail()).contains("128KiB", "256 fields", "upstreams.maxHeadBytes");
        assertThat(peer.read()).isEqualTo(-1);
    }

    private static String fields(int count, int bytes) {
        return IntStream.range(0, count)
                .mapToObj(i -> "x-" + i + ": " + "y".repeat(bytes) + "\r\n")
                .reduce("", String::concat);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x\r\n", "-1\r\n", "5\r\nhelloxy\r\n", "ffffffffffffffffff\r\n"})
    void aBodyThatIsNoHttpIsNeverComplete(String chunk) {
        Asker asker = loopback.get();
        requested().write(CHUNKED + "2\r\nok\r\n" + chunk);

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_BAD_RESPONSE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-le"})
    void anEndBeforeTheHeadIsTold(String begin) {
        Asker asker = loopback.get();
        requested().write(begin).close();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
        assertThat(asker.head).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"content-length: 10", "transfer-encoding: chunked"})
    void anEndWithinABodyIsNoEnd(String framing) {
        Asker asker = loopback.get();
        requested().write(head("HTTP/1.1 200 OK", framing) + "2\r\nok\r\n").close();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
        assertThat(asker.status()).isEqualTo("200");
    }

    @Test
    void aResetIsNoEndOfABodyWithoutLength() {
        Asker asker = loopback.get();
        Peer peer = requested().write(head("HTTP/1.1 200 OK") + "part");
        asker.awaitBody("part");

        peer.reset();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void nothingIsToldAfterACancel() {
        Asker asker = loopback.get();
        Peer peer = requested().write(CHUNKED + "2\r\nok\r\n");
        asker.awaitBody("ok");

        asker.cancel();

        assertThat(peer.read()).isEqualTo(-1);
        assertThat(asker.ended).isFalse();
        assertThat(asker.problem).isNull();
    }
}
