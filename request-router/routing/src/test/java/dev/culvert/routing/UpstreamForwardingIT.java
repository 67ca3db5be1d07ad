package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.routing.RawUpstream.Peer;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests, as the upstream gets them. */
class UpstreamForwardingIT {
    @AutoClose
    private final Loopback loopback = new Loopback();

    private String headOf(Asker asker) {
        Peer peer = loopback.upstream.accept();
        String head = Loopback.answer(peer);
        asker.awaitEnd();
        return head;
    }

    @Test
    void aRequestWithoutBodyAndItsResponseCross() {
        Asker asker = loopback.asker().get("/a/b?c=d", "accept", "text/plain", "x-a", "1", "x-a", "2");
        Peer peer = loopback.upstream.accept();

        String head = peer.readHead();
        peer.write(
                head("HTTP/1.1 200 OK", "Content-Type: text/plain", "X-B: 1", "x-b: 2", "Content-Length: 5")
                        + "hello");

        asker.awaitEnd();
        assertThat(head).isEqualTo(
                head("GET /a/b?c=d HTTP/1.1", "Host: caller.example", "Accept: text/plain", "X-A: 1",
                        "X-A: 2"));
        assertThat(asker.status()).isEqualTo("200");
        assertThat(asker.fields("x-b")).containsExactly("1", "2");
        assertThat(asker.field("content-length")).isEqualTo("5");
        assertThat(asker.body()).isEqualTo("hello");
    }

    @Test
    void aBodyOfKnownLengthIsSentAsItIs() {
        Asker asker = loopback.open("POST", "content-length", "11").send("hello ").send("world").finish();
        Peer peer = loopback.upstream.accept();

        assertThat(Loopback.answer(peer))
                .isEqualTo(head("POST / HTTP/1.1", "Host: caller.example", "Content-Length: 11"));
        assertThat(peer.read(11)).isEqualTo("hello world");
        asker.awaitEnd().awaitConsumed(11);
    }

    @Test
    void aBodyOfUnknownLengthIsSentInChunksWithItsTrailers() {
        var trailers = new DefaultHttp2Headers().add("x-sum", "42")
                .add("content-length", "9")
                .add("host", "x");
        Asker asker = loopback.open("PUT").send("hello").send("a longer part").send("").finish(trailers);
        Peer peer = loopback.upstream.accept();
        String body = "5\r\nhello\r\nd\r\na longer part\r\n0\r\nX-Sum: 42\r\n\r\n";

        assertThat(Loopback.answer(peer))
                .isEqualTo(head("PUT / HTTP/1.1", "Host: caller.example", "Transfer-Encoding: chunked"));
        assertThat(peer.read(body.length())).isEqualTo(body);
        asker.awaitEnd().awaitConsumed(18);
    }

    @Test
    void anEmptyBodyOfUnknownLengthIsOneLastChunk() {
        loopback.open("PUT").finish();
        Peer peer = loopback.upstream.accept();

        peer.readHead();
        assertThat(peer.read(5)).isEqualTo("0\r\n\r\n");
    }

    @Test
    void methodsThatUsuallyHaveABodySayThatTheyHaveNone() {
        assertThat(headOf(loopback.asker().open(Kind.HTTP, "POST", "/", true)))
                .contains("\r\nContent-Length: 0\r\n");
    }

    @Test
    void methodsThatUsuallyHaveNoBodySayNothingAboutIt() {
        assertThat(headOf(loopback.asker().open(Kind.HTTP, "DELETE", "/", true)))
                .doesNotContainIgnoringCase("content-length");
    }

    @Test
    void whatIsForOneHopOnlyDoesNotCross() {
        String head = headOf(loopback.asker()
                .get("/", "connection", "x-a", "keep-alive", "1", "transfer-encoding", "chunked", "upgrade",
                        "h2c",
                        "host", "other", "te", "trailers", "cookie", "a=1", "cookie", "b=2", "x-b", "2"));

        assertThat(head)
                .isEqualTo(head("GET / HTTP/1.1", "Host: caller.example", "X-B: 2", "Cookie: a=1; b=2",
                        "Connection: TE", "TE: trailers"));
    }

    @Test
    void bytesOfTargetAndFieldsCrossUnchanged() {
        assertThat(headOf(loopback.asker().get("//a//%2F?\u00e9=\u00ff|{}", "x-a", "\u00e4\t\u00ff")))
                .isEqualTo(head("GET //a//%2F?\u00e9=\u00ff|{} HTTP/1.1", "Host: caller.example",
                        "X-A: \u00e4\t\u00ff"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a b", "/a\r\nx: y", "/\u0000", "/\n", "/\u007f", "/\u0100", ""})
    void targetsThatCouldBeReadInTwoWaysAreRefused(String path) {
        assertThat(loopback.asker().get(path).awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nb: c", "a\nb", "\u0000", "\u007f", "\u0100"})
    void fieldsThatCouldBeReadInTwoWaysAreRefused(String value) {
        assertThat(loopback.asker().get("/", "x-a", value).awaitProblem().cause())
                .isEqualTo(Cause.BAD_REQUEST);
        assertThat(loopback.asker().get("/", "x" + value, "a").awaitProblem().cause())
                .isEqualTo(Cause.BAD_REQUEST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "+1", "1,1", "1 ", "0x1", "99999999999999999999"})
    void lengthsThatAreNoNumberAreRefused(String length) {
        Asker asker = loopback.open("POST", "content-length", length);

        assertThat(asker.awaitProblem().hop()).isEqualTo(Hop.EDGE);
        assertThat(loopback.relay.openConnections()).isZero();
    }

    @Test
    void twoLengthsAreRefused() {
        Asker asker = loopback.open("POST", "content-length", "1", "content-length", "1");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"CONNECT", "TRACE"})
    void methodsThatAreNotForTheUpstreamAreRefused(String method) {
        assertThat(loopback.open(method).awaitProblem().cause()).isEqualTo(Cause.METHOD_NOT_ALLOWED);
    }

    @Test
    void aBodyLongerThanItsHeadSaysCanNotBecomeTheNextRequest() {
        Asker asker = loopback.open("POST", "content-length", "4").send("body");
        Peer peer = loopback.upstream.accept();
        peer.readHead();

        asker.send("GET /x HTTP/1.1\r\n\r\n");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
        assertThat(peer.read(5)).isEqualTo("body");
    }

    @Test
    void aBodyShorterThanItsHeadSaysIsNeverComplete() {
        Asker asker = loopback.open("POST", "content-length", "4").send("bod");
        Peer peer = loopback.upstream.accept();
        peer.readHead();

        asker.finish();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
        assertThat(peer.read(4).length()).isLessThan(4);
    }

    @Test
    void aCancelledRequestIsNeverComplete() {
        Asker asker = loopback.open("POST").send("part");
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        peer.read(9);

        asker.cancel();

        assertThat(peer.read()).isEqualTo(-1);
        assertThat(asker.problem).isNull();
    }

    @Test
    void bytesBeyondTheEndOfAnExchangeAreReleased() {
        Asker asker = loopback.open("POST").finish();
        Peer peer = loopback.upstream.accept();
        Loopback.answer(peer);

        asker.awaitEnd().send("late").finish().cancel();

        asker.awaitConsumed(4);
    }

    @Test
    void aConnectionThatIsRefusedIsTold() {
        loopback.upstream.close();

        var problem = loopback.get().awaitProblem();

        assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
        assertThat(problem.hop()).isEqualTo(Hop.UPSTREAM);
        assertThat(problem.detail()).doesNotContain("127.0.0.1");
    }

    @Test
    void aBodySentWhileDiallingIsReleasedWhenTheDialFails() {
        loopback.upstream.close();

        Asker asker = loopback.open("POST").send("held").send("too");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
        asker.send("after").finish();
    }

    @Test
    void aNameThatDoesNotResolveIsTold() {
        try (var relay = SingleUpstream.create(URI.create("http://does-not-exist.invalid"),
                Loopback.limits(Duration.ofSeconds(5), Duration.ofSeconds(5)))) {
            Asker asker = new Asker(relay, loopback.loops.group().next()).get("/");

            assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
        }
    }

    @Test
    void thePathOfTheUpstreamStandsBeforeTheRequests() {
        try (var relay = SingleUpstream.create(loopback.upstream.uri().resolve("/base/"),
                UpstreamLimits.defaults())) {
            Asker asker = new Asker(relay, loopback.loops.group().next()).get("/../x?y");

            assertThat(headOf(asker)).startsWith("GET /base/../x?y HTTP/1.1\r\n");
        }
    }
}
