package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.upstream.UpstreamProblem;
import dev.culvert.routing.Http2Upstream.Asked;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Exchanges with an HTTP/2 upstream, as asker and upstream see them. */
class Http2ExchangeIT {
    @AutoClose
    private final Http2Loopback loopback = new Http2Loopback();

    @Test
    void aRequestCrossesWithItsHostAndTheSchemeOfItsHop() {
        Asker asker = loopback.asker().get("/a?b=c", "x-a", "1", "te", "trailers", "cookie", "a=1");
        Asked asked = loopback.asked();

        assertThat(asked.head.method()).hasToString("GET");
        assertThat(asked.head.path()).hasToString("/a?b=c");
        assertThat(asked.head.authority()).hasToString("caller.example");
        assertThat(asked.head.scheme()).hasToString("http");
        assertThat(asked.field("te")).isEqualTo("trailers");
        assertThat(asked.field("x-a")).isEqualTo("1");
        assertThat(asked.ended).isTrue();
        asked.answer();
        asker.awaitEnd();
        assertThat(asker.body()).isEqualTo("ok");
    }

    @Test
    void whatHttp2ForbidsDoesNotCross() {
        Asker asker = loopback.asker()
                .get("/", "connection", "x", "keep-alive", "1", "transfer-encoding", "chunked", "te", "gzip");
        Asked asked = loopback.asked();

        assertThat(Stream.of("connection", "keep-alive", "transfer-encoding", "te").map(asked::field))
                .containsOnly("null");
        asked.head("204", true);
        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("204");
    }

    @Test
    void bothHalvesMayTakeTurns() {
        Asker asker = loopback.post();
        asker.send("1");
        Asked asked = loopback.asked();
        asked.awaitBody("1");
        asked.head("200", false).body("a", false);
        asker.awaitBody("a");
        asker.send("2");
        asked.awaitBody("12");
        asked.body("b", false);
        asker.awaitBody("ab");

        asker.finish(new DefaultHttp2Headers().add("x-sum", "3"));
        asked.awaitEnd();
        asked.trailers("grpc-status", "0");

        asker.awaitEnd().awaitConsumed(2);
        assertThat(asked.trailer("x-sum")).hasToString("3");
        assertThat(asker.trailer("grpc-status")).isEqualTo("0");
    }

    @Test
    void aHeadThatEndsTheResponseIsAllOfIt() {
        Asker asker = loopback.post("content-type", "application/grpc").finish();

        loopback.asked().head("200", true, "grpc-status", "5");

        asker.awaitEnd();
        assertThat(asker.field("grpc-status")).isEqualTo("5");
    }

    @Test
    void informationalHeadsComeBeforeTheFinalOne() {
        Asker asker = loopback.get();

        loopback.asked().head("103", false, "link", "</x>").answer();

        asker.awaitEnd();
        assertThat(asker.informational).hasSize(1);
        assertThat(asker.body()).isEqualTo("ok");
    }

    @Test
    void a205HasNoBody() {
        Asker asker = loopback.get();

        loopback.asked().head("205", false).body("x", true);

        asker.awaitEnd();
        assertThat(asker.status()).isEqualTo("205");
        assertThat(asker.body()).isEmpty();
    }

    @Test
    void aResponseToHeadKeepsItsLengthAndHasNoBody() {
        Asker asker = loopback.asker().open(Kind.HTTP, "HEAD", "/", true);

        loopback.asked().head("200", false, "content-length", "1000").body("", true);

        asker.awaitEnd();
        assertThat(asker.field("content-length")).isEqualTo("1000");
    }

    @Test
    void aResponseMayEndBeforeItsRequest() {
        Asker asker = loopback.post().send("a");
        Asked asked = loopback.asked();

        asked.answer();
        asker.awaitEnd();
        asker.send("b").finish();

        asked.awaitEnd().awaitBody("ab");
        asker.awaitConsumed(2);
    }

    @Test
    void anUpstreamMayStopTheRequestOnceItHasAnswered() {
        Asker asker = loopback.post().send("a");
        Asked asked = loopback.asked();

        asked.answer();
        asker.awaitEnd();
        asked.reset(Http2Error.NO_ERROR);
        asker.send("b").finish();

        asker.awaitConsumed(2);
    }

    @Test
    void aCancelResetsTheStreamAndNothingElse() {
        Asker other = loopback.get();
        Asked kept = loopback.asked();
        Asker asker = loopback.post().send("a");
        Asked asked = loopback.asked();
        asked.head("200", false);
        asker.awaitHead();

        asker.cancel();

        assertThat(asked.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
        kept.answer();
        other.awaitEnd();
        assertThat(asker.problem).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"CANCEL", "INTERNAL_ERROR", "ENHANCE_YOUR_CALM"})
    void aResetBeforeTheHeadIsTold(Http2Error error) {
        Asker asker = loopback.get();

        loopback.asked().reset(error);

        Problem problem = asker.awaitProblem();
        assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_RESET);
        assertThat(problem.hop()).isEqualTo(Hop.UPSTREAM);
        assertThat(problem.detail()).contains(error.name());
    }

    @Test
    void aResetWithinABodyIsNoEnd() {
        Asker asker = loopback.get();
        Asked asked = loopback.asked().head("200", false).body("part", false);
        asker.awaitBody("part");

        asked.reset(Http2Error.CANCEL);

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_RESET);
    }

    @Test
    void aConnectionThatIsDroppedWithinABodyIsNoEnd() {
        Asker asker = loopback.get();
        loopback.asked().head("200", false).body("part", false);
        asker.awaitBody("part");

        loopback.peer().drop();

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BROKEN_RESPONSE);
    }

    @Test
    void aConnectionThatIsDroppedBeforeTheHeadIsTold() {
        Asker asker = loopback.post().finish();
        loopback.asked();

        loopback.peer().drop();

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.NO_RESPONSE);
    }

    static Stream<List<String>> badHeads() {
        return Stream.of(List.of("99"), List.of("101"), List.of("abc"), List.of("2000"),
                List.of("200", "connection", "close"), List.of("200", "X-Upper", "1"),
                List.of("200", "content-length", "x"),
                List.of("200", "content-length", "1", "content-length", "2"),
                List.of("200", "x", "a\r\nb: c"), List.of("200", "transfer-encoding", "chunked"),
                List.of("200", "upgrade", "h2c"), List.of("200", ":path", "/"), List.of("200", "x y", "1"),
                List.of("200", "content-length", "+5"),
                List.of("204", "content-length", "5"), List.of("205", "content-length", "5"),
                List.of("103", "content-length", "5"));
    }

    @ParameterizedTest
    @MethodSource("badHeads")
    void aHeadThatIsNoHttpIsTold(List<String> head) {
        Asker asker = loopback.get();
        Asked asked = loopback.asked();
        var fields = new DefaultHttp2Headers(false).add(":status", head.getFirst());
        for (int i = 1; i < head.size(); i += 2) {
            fields.add(head.get(i), head.get(i + 1));
        }

        asked.headers(fields, false);

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BAD_HTTP2);
        assertThat(asker.head).isNull();
        assertThat(asked.awaitReset()).isEqualTo(Http2Error.PROTOCOL_ERROR.code());
    }

    @ParameterizedTest
    @CsvSource({"257, 1", "20, 7000"})
    void aLargeHeadIsToldWithItsLimit(int count, int bytes) {
        Asker asker = loopback.get();
        Asked asked = loopback.asked();
        var fields = new DefaultHttp2Headers(false).add(":status", "200");
        IntStream.range(0, count).forEach(i -> fields.add("x-" + i, "y".repeat(bytes)));

        asked.headers(fields, false);

        Problem problem = asker.awaitProblem();
        assertThat(problem.cause()).isEqualTo(Cause.UPSTREAM_BAD_RESPONSE);
        assertThat(problem.detail()).contains("128KiB", "256 fields", "upstreams.maxHeadFields");
    }

    @Test
    void aBodyWithoutAHeadIsTold() {
        Asker asker = loopback.get();

        loopback.asked().body("x", false);

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BAD_HTTP2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "toolong"})
    void aBodyOfAnotherLengthIsNoEnd(String body) {
        Asker asker = loopback.get();

        loopback.asked().head("200", false, "content-length", "3").body(body, true);

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BAD_HTTP2);
    }

    @Test
    void aRequestOfAnotherLengthIsReset() {
        Asker tooLong = loopback.post("content-length", "1").send("ab");
        Asker tooShort = loopback.post("content-length", "3").send("ab").finish();

        assertThat(tooLong.awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
        assertThat(tooShort.awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
    }

    @Test
    void whatCantStandInAHeadIsRefused() {
        assertThat(loopback.asker().get("/", "x", "a\nb").awaitProblem().cause())
                .isEqualTo(Cause.BAD_REQUEST);
        assertThat(loopback.asker().get("/", "x y", "a").awaitProblem().cause()).isEqualTo(Cause.BAD_REQUEST);
        assertThat(loopback.asker().open(Kind.HTTP, "TRACE", "/", true).awaitProblem().cause())
                .isEqualTo(Cause.METHOD_NOT_ALLOWED);
    }
}
