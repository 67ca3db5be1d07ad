package dev.culvert.relay.inbound;

import static dev.culvert.relay.testing.FrameCaller.CONTINUATION;
import static dev.culvert.relay.testing.FrameCaller.DATA;
import static dev.culvert.relay.testing.FrameCaller.END_HEADERS;
import static dev.culvert.relay.testing.FrameCaller.END_STREAM;
import static dev.culvert.relay.testing.FrameCaller.GOAWAY;
import static dev.culvert.relay.testing.FrameCaller.HEADERS;
import static dev.culvert.relay.testing.FrameCaller.PING;
import static dev.culvert.relay.testing.FrameCaller.PRIORITY;
import static dev.culvert.relay.testing.FrameCaller.RST_STREAM;
import static dev.culvert.relay.testing.FrameCaller.SETTINGS;
import static dev.culvert.relay.testing.FrameCaller.WINDOW_UPDATE;
import static dev.culvert.relay.testing.FrameCaller.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.WireProblem;
import dev.culvert.relay.inbound.http2.Http2EdgeBuilder;
import dev.culvert.relay.inbound.http2.Http2FrameBudget;
import dev.culvert.relay.route.RouteProblem;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.relay.testing.FrameCaller;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Callers that speak HTTP/2, over a real socket with TLS. */
class Http2EdgeIT {
    private final EdgeFixture edge = new EdgeFixture();
    private final FrameCaller caller = edge.http2();

    @AfterEach
    void close() {
        caller.close();
        edge.close();
    }

    /** A record with a request may be as small as one with a padded alert. */
    @Test
    void smallRequestsDoNotWaitForOthers() throws Exception {
        for (int i = 0; i < 24; i++) {
            caller.get(1 + 4 * i, "/" + "a".repeat(i)).get(3 + 4 * i, "/" + "a".repeat(i));

            assertThat(edge.relay.next().path()).hasSize(i + 1);
            assertThat(edge.relay.next().path()).hasSize(i + 1);
        }
        edge.relay.all.forEach(exchange -> exchange.ok("ok"));
    }

    @Test
    void aRequestIsAnsweredAndItsFieldsCross() throws Exception {
        caller.head(1, true, request("GET", "/a?b=%20c", "cookie", "a=1", "cookie", "b=2", "x-one", "1"));
        FakeRelay.Exchange asked = edge.relay.next();
        asked.head("200", false, "content-length", "5", "connection", "close", "x-two", "2")
                .body("hello")
                .end();

        Http2Headers head = caller.head(1);
        assertThat(caller.protocol()).isEqualTo("h2");
        assertThat(head.status()).hasToString("200");
        assertThat(head.get("x-two")).hasToString("2");
        assertThat(head.contains("connection")).isFalse();
        assertThat(caller.body(1)).isEqualTo("hello");
        Http2Headers fields = asked.request.fields();
        assertThat(asked.path()).isEqualTo("/a?b=%20c");
        assertThat(fields.get("cookie")).hasToString("a=1; b=2");
        assertThat(fields.get("x-one")).hasToString("1");
        assertThat(fields.get("via")).hasToString("2.0 test");
        assertThat(fields.get("x-forwarded-proto")).hasToString("https");
    }

    @Test
    void streamsOfOneConnectionGoTheirOwnWays() throws Exception {
        caller.get(1, "/one");
        FakeRelay.Exchange one = edge.relay.next();
        caller.head(3, true, request("GET", "/").authority("nobody.example"));
        assertThat(caller.head(3).status()).hasToString("404");
        assertThat(caller.body(3)).contains("unknown-host");
        caller.get(5, "/five");
        edge.relay.next().ok("five");
        assertThat(caller.body(5)).isEqualTo("five");
        one.ok("one");
        assertThat(caller.body(1)).isEqualTo("one");
    }

    @Test
    void bodiesAndTrailersCrossBothWays() throws Exception {
        caller.head(1, false, request("POST", "/", "te", "trailers"));
        FakeRelay.Exchange asked = edge.relay.next();
        asked.head("200", false, "content-type", "application/grpc").body("early");
        assertThat(caller.next(DATA, 1).payload()).isEqualTo("early");
        caller.data(1, "question", false);
        caller.head(1, true, new DefaultHttp2Headers().set("x-sum", "8"));
        asked.awaitEnd();
        asked.end("grpc-status", "0");

        Http2Headers trailers = caller.head(1);
        assertThat(trailers.get("grpc-status")).hasToString("0");
        assertThat(asked.body()).isEqualTo("question");
        assertThat(Objects.requireNonNull(asked.trailers).get("x-sum")).hasToString("8");
    }

    @Test
    void aWebSocketRunsOnAStream() throws Exception {
        caller.head(1, false, request("CONNECT", "/chat", "sec-websocket-version", "13")
                .set(Http2Headers.PseudoHeaderName.PROTOCOL.value(), "websocket"));
        FakeRelay.Exchange asked = edge.relay.next();
        assertThat(asked.request.fields().method()).hasToString("GET");
        assertThat(asked.request.fields().get("upgrade")).hasToString("websocket");
        assertThat(asked.request.fields().get("sec-websocket-key").toString()).hasSize(24);
        asked.head("101", false, "sec-websocket-accept", "x", "sec-websocket-protocol", "chat");

        Http2Headers head = caller.head(1);
        assertThat(head.status()).hasToString("200");
        assertThat(head.contains("sec-websocket-accept")).isFalse();
        assertThat(head.get("sec-websocket-protocol")).hasToString("chat");
        caller.data(1, "ping", false);
        asked.body("pong");
        assertThat(caller.next(DATA, 1).payload()).isEqualTo("pong");
        caller.data(1, "", true);
        asked.awaitEnd();
        assertThat(asked.body()).isEqualTo("ping");
        asked.end();
        assertThat(caller.next(DATA, 1).ended()).isTrue();
    }

    @Test
    void aStalledRuntimeHoldsUpItsOwnStreamOnly() throws Exception {
        edge.relay.answer(exchange -> exchange.eager = false);
        String chunk = "x".repeat(16 << 10);
        for (int stream = 1; stream < 9; stream += 2) {
            caller.head(stream, false, request("POST", "/"));
            for (int sent = 0; sent < Http2EdgeBuilder.STREAM_WINDOW; sent += chunk.length()) {
                caller.data(stream, chunk, false);
            }
        }
        FakeRelay.Exchange first = edge.relay.next();
        for (int others = 0; others < 3; others++) {
            edge.relay.next();
        }
        edge.relay.answer(exchange -> {});
        caller.head(9, false, request("POST", "/")).data(9, chunk, true);
        FakeRelay.Exchange last = edge.relay.next();
        last.awaitEnd();
        last.ok("taken");

        assertThat(caller.body(9)).isEqualTo("taken");
        first.passOn(Http2EdgeBuilder.STREAM_WINDOW);
        assertThat(caller.next(WINDOW_UPDATE, 1).number()).isPositive();
    }

    @Test
    void bytesAreConsumedWhenTheCallerMayTakeThem() throws Exception {
        caller.get(1, "/");
        FakeRelay.Exchange asked = edge.relay.next();
        asked.head("200", false).body(100_000);
        int received = 0;
        while (received < 65_535) { // RFC 9113 §6.9.2: the first window
            received += caller.next(DATA, 1).payload().length();
        }
        caller.send(PING, 0, 0, new byte[8]).next(PING, 0);
        assertThat(asked.consumed).hasValue(0); // one write, not yet taken whole
        caller.number(WINDOW_UPDATE, 1, 100_000).number(WINDOW_UPDATE, 0, 100_000);
        while (received < 100_000) {
            received += caller.next(DATA, 1).payload().length();
        }
        asked.end();
        caller.next(frame -> frame.type() == DATA && frame.ended());
        assertThat(asked.consumed).hasValue(100_000);
    }

    @Test
    void aResponseThatEndsBeforeItsRequestStopsIt() throws Exception {
        caller.head(1, false, request("POST", "/"));
        edge.relay.next().ok("enough");

        assertThat(caller.body(1)).isEqualTo("enough");
        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.NO_ERROR.code());
    }

    @Test
    void aRefusedRequestMayEndAndIsStoppedIfItDoesNot() {
        caller.head(1, false, request("POST", "/").authority("nobody.example"));
        assertThat(caller.body(1)).contains("unknown-host");
        caller.data(1, "more", false);
        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.NO_ERROR.code());
        caller.head(3, false, request("POST", "/").authority("nobody.example"));
        assertThat(caller.body(3)).contains("unknown-host");
        caller.head(3, true, new DefaultHttp2Headers().set(":path", "/"));
        assertThat(caller.next(RST_STREAM, 3).number()).isEqualTo((int) Http2Error.PROTOCOL_ERROR.code());
    }

    @Test
    void aBrokenResponseIsResetAndOthersGoOn() throws Exception {
        caller.get(1, "/");
        FakeRelay.Exchange asked = edge.relay.next();
        asked.head("200", false).body("half");
        asked.fail(Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "gone"));

        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.INTERNAL_ERROR.code());
        caller.get(3, "/");
        edge.relay.next().ok("on");
        assertThat(caller.body(3)).isEqualTo("on");
    }

    @Test
    void aResetCancelsTheRequest() throws Exception {
        caller.get(1, "/");
        FakeRelay.Exchange asked = edge.relay.next();
        caller.number(RST_STREAM, 1, (int) Http2Error.CANCEL.code());
        caller.send(PING, 0, 0, new byte[8]).next(PING, 0);

        assertThat(asked.cancelled).isNotNull();
        assertThat(edge.active()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {":path=", ":path=a", ":scheme=ftp", ":method=", "connection=close", "te=gzip",
            "transfer-encoding=chunked", "upgrade=h2c", "host=other.example", ":authority=a b",
            ":authority=user@acme.example", ":path=/a b", "X-Upper=1", ":unknown=1", "x-line=a\nb"})
    void malformedHeadsAre400AndNeverForwarded(String field) {
        int equals = field.indexOf('=');
        Http2Headers head = request("GET", "/");
        head.set(field.substring(0, equals), field.substring(equals + 1));
        caller.head(1, true, head);

        assertThat(caller.head(1).status()).hasToString("400");
        assertThat(caller.body(1)).contains("urn:culvert:problem:bad-request");
        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.PROTOCOL_ERROR.code());
        assertThat(edge.relay.all).isEmpty();
    }

    @Test
    void aSecondHeadBehindTheEndOfTheRequestIsAStreamErrorAndOthersGoOn() throws Exception {
        caller.get(1, "/");
        edge.relay.next();
        caller.get(1, "/");
        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.STREAM_CLOSED.code());

        caller.get(3, "/");
        edge.relay.next().ok("on");
        assertThat(caller.body(3)).isEqualTo("on");
    }

    @Test
    void methodsThatMeanSomethingElseHereAre405() {
        caller.head(1, true, request("TRACE", "/"));
        Http2Headers head = caller.head(1);

        assertThat(head.status()).hasToString("405");
        assertThat(head.get("allow")).hasToString("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }

    /** The second one as it comes out of a tunnel. */
    @Test
    void a405OfARouteNamesTheMethodThatItTakes() throws Exception {
        Problem refused = RouteProblem.POST_ONLY;
        caller.get(1, "/");
        edge.relay.next().fail(refused);
        caller.get(3, "/");
        edge.relay.next()
                .fail(WireProblem.problem(WireProblem.number(refused.cause()),
                        WireProblem.number(refused.hop()), refused.detail(), Cause.INTERNAL));

        assertThat(caller.head(1).get("allow")).hasToString("POST");
        assertThat(caller.head(3).get("allow")).hasToString("POST");
    }

    @Test
    void aHeadThatIsTooLargeIs431AndTheConnectionLives() throws Exception {
        caller.head(1, true,
                request("GET", "/", "x-long", "x".repeat(12_000), "x-longer", "y".repeat(3_000)));
        edge.relay.next().ok("fits");
        assertThat(caller.body(1)).isEqualTo("fits");
        Http2Headers many = request("GET", "/");
        for (int i = 0; i < 101; i++) {
            many.add("x-" + i, "1");
        }
        caller.head(3, true, many);
        assertThat(caller.head(3).status()).hasToString("431");
        caller.head(5, true, request("GET", "/", "x-long", "x".repeat(70_000)));
        assertThat(caller.head(5).status()).hasToString("431");
        assertThat(caller.body(5)).contains("urn:culvert:problem:head-too-large");
        caller.get(7, "/");
        edge.relay.next().ok("on");
        assertThat(caller.body(7)).isEqualTo("on");
    }

    @Test
    void aBodyOfAnotherLengthThanItsHeadSaysIs400() throws Exception {
        caller.head(1, false, request("POST", "/", "content-length", "3")).data(1, "four", true);

        assertThat(caller.head(1).status()).hasToString("400");
        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.PROTOCOL_ERROR.code());
        assertThat(edge.relay.next().cancelled).isNotNull();
    }

    @Test
    void moreStreamsThanAllowedAreRefused() {
        for (int i = 0; i <= Http2EdgeBuilder.MAX_STREAMS; i++) {
            caller.get(1 + 2 * i, "/");
        }
        int refused = 1 + 2 * Http2EdgeBuilder.MAX_STREAMS;

        assertThat(caller.next(RST_STREAM, refused).number())
                .isEqualTo((int) Http2Error.REFUSED_STREAM.code());
        assertThat(edge.relay.all).hasSize(Http2EdgeBuilder.MAX_STREAMS);
    }

    @Test
    void aFloodOfResetsEndsTheConnection() {
        for (int i = 0; i <= Http2EdgeBuilder.MAX_RESETS; i++) {
            caller.get(1 + 2 * i, "/").number(RST_STREAM, 1 + 2 * i, 8);
        }

        assertCalmed();
    }

    @Test
    void aFloodOfResetsThatTheEdgeIsMadeToSendEndsTheConnection() {
        for (int i = 0; i <= Http2EdgeBuilder.MAX_RESETS; i++) {
            caller.get(1 + 2 * i, "/").number(WINDOW_UPDATE, 1 + 2 * i, 0);
        }

        assertCalmed();
    }

    @ParameterizedTest
    @ValueSource(strings = {":path", "x y"}) // the edge finds the one, Netty the other
    void aFloodOfMalformedHeadsEndsTheConnection(String field) {
        for (int i = 0; i <= Http2EdgeBuilder.MAX_RESETS; i++) {
            caller.head(1 + 2 * i, true, request("GET", "/").set(field, "a b"));
        }

        assertCalmed();
        assertThat(edge.relay.all).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({PING + ", 0, 8", SETTINGS + ", 0, 0", PRIORITY + ", 1, 5"})
    void aFloodOfControlFramesEndsTheConnection(int type, int stream, int bytes) {
        for (int i = 0; i <= Http2FrameBudget.MAX_CONTROL_FRAMES; i++) {
            caller.send(type, 0, stream, new byte[bytes]);
        }

        assertCalmed();
    }

    @Test
    void aFloodOfEmptyDataEndsTheConnection() {
        caller.head(1, false, request("POST", "/"));
        for (int i = 0; i <= Http2EdgeBuilder.MAX_EMPTY_DATA_FRAMES; i++) {
            caller.data(1, "", false);
        }

        assertCalmed();
    }

    @Test
    void aFloodOfNearlyEmptyDataThatNobodyTakesEndsTheConnection() {
        edge.relay.answer(exchange -> exchange.eager = false);
        for (int stream = 1; stream < 8; stream += 2) {
            caller.head(stream, false, request("POST", "/"));
            caller.singleBytes(stream, NEARLY_EMPTY / 4);
        }

        assertCalmed();
    }

    @Test
    void nearlyEmptyDataThatIsTakenMayFlow() throws Exception {
        caller.head(1, false, request("POST", "/"));
        FakeRelay.Exchange exchange = edge.relay.next();
        exchange.eager = false;

        int taken = 0;
        for (int sent = 0; sent < 2 * NEARLY_EMPTY; sent += 1_000) {
            caller.singleBytes(1, 1_000);
            int arrived = sent + 1_000;
            await().until(() -> exchange.receivedBytes.get() == arrived);
            exchange.passOn(arrived - 1 - taken); // one is always on its way
            taken = arrived - 1;
        }

        exchange.ok("on");
        assertThat(caller.body(1)).isEqualTo("on");
    }

    @Test
    void aHeadInManySmallPartsEndsTheConnection() {
        caller.send(HEADERS, 0, 1, caller.block(1, request("GET", "/")));
        for (int i = 0; i <= Http2EdgeBuilder.MAX_SMALL_CONTINUATIONS; i++) {
            caller.send(CONTINUATION, 0, 1, caller.block(1, new DefaultHttp2Headers().add("x-" + i, "y")));
        }

        assertCalmed();
    }

    /** A socket that was closed at once would answer with a reset, which destroys the GOAWAY. */
    @Test
    void aCallerThatGoesOnSendingBehindAFaultReadsWhatItWas() throws Exception {
        caller.get(1, "/");
        FakeRelay.Exchange asked = edge.relay.next();
        caller.data(0, "of no stream", false);
        await().until(asked::isOver);
        for (int i = 0; i < 40; i++) {
            caller.data(1, "x".repeat(16_000), false);
        }

        assertThat(caller.next(GOAWAY, 0).number()).isEqualTo((int) Http2Error.PROTOCOL_ERROR.code());
        assertThat(caller.ends()).isTrue();
    }

    @Test
    void aFloodOfWindowUpdatesEndsTheConnection() throws Exception {
        for (int i = 0; i <= Http2FrameBudget.MAX_CONTROL_FRAMES; i++) {
            caller.number(WINDOW_UPDATE, 0, 1);
        }

        assertCalmed();
    }

    @Test
    void aFloodOfUnknownFramesEndsTheConnection() throws Exception {
        for (int i = 0; i <= Http2FrameBudget.MAX_CONTROL_FRAMES; i++) {
            caller.number(0xbb, 0, 1);
        }

        assertCalmed();
    }

    @Test
    void aReaderMayEnlargeBothWindowsForEachFrameOfABody() throws Exception {
        caller.get(1, "/");
        FakeRelay.Exchange asked = edge.relay.next();
        asked.head("200", false);
        for (int i = 0; i < Http2FrameBudget.MAX_CONTROL_FRAMES; i++) {
            asked.body("x");
            caller.next(DATA, 1);
            caller.number(WINDOW_UPDATE, 0, 1).number(WINDOW_UPDATE, 1, 1);
        }
        asked.end();
        caller.get(3, "/next");
        edge.relay.next().ok("next");

        assertThat(caller.body(3)).isEqualTo("next");
    }

    /** Frames of one byte that are too many. */
    private static final int NEARLY_EMPTY = 8
            + Http2EdgeBuilder.MAX_SHORTFALL / (Http2EdgeBuilder.FAIR_DATA - 1);

    private void assertCalmed() {
        assertThat(caller.next(GOAWAY, 0).number()).isEqualTo((int) Http2Error.ENHANCE_YOUR_CALM.code());
        assertThat(edge.http2Errors("enhance_your_calm")).isEqualTo(1);
    }

    /** RFC 9113 §6.9.2: not an error of the stream whose window overflows. */
    @Test
    void settingsThatOverflowAWindowEndTheConnection() throws Exception {
        caller.get(1, "/");
        edge.relay.next();
        caller.number(WINDOW_UPDATE, 1, Integer.MAX_VALUE - (64 << 10));

        caller.send(SETTINGS, 0, 0, new byte[]{0, 4, 0, 1, 0, 1}); // a window of 65,537 bytes

        assertThat(caller.next(GOAWAY, 0).number()).isEqualTo((int) Http2Error.FLOW_CONTROL_ERROR.code());
        assertThat(caller.ends()).isTrue();
    }

    @Test
    void aWindowUpdateThatOverflowsAWindowEndsItsStreamOnly() throws Exception {
        caller.get(1, "/");
        edge.relay.next();
        caller.number(WINDOW_UPDATE, 1, Integer.MAX_VALUE);

        assertThat(caller.next(RST_STREAM, 1).number()).isEqualTo((int) Http2Error.FLOW_CONTROL_ERROR.code());
        caller.get(3, "/");
        edge.relay.next().ok("on");
        assertThat(caller.body(3)).isEqualTo("on");
    }

    /** RFC 7541 §4.2: two are enough for any encoder, and each makes the decoder reallocate its table. */
    @Test
    void moreThanTwoTableSizeUpdatesInAHeadEndTheConnection() throws Exception {
        ByteBuf block = Unpooled.buffer().writeBytes(new byte[]{0x20, 0x3f, (byte) 0xe1, 0x1f});
        block.writeBytes(caller.block(1, request("GET", "/")));
        caller.send(HEADERS, END_STREAM | END_HEADERS, 1, ByteBufUtil.getBytes(block));
        edge.relay.next().ok("two");
        assertThat(caller.body(1)).isEqualTo("two");

        block = Unpooled.buffer().writeBytes(new byte[]{0x20, 0x3f, (byte) 0xe1, 0x1f, 0x20});
        block.writeBytes(caller.block(3, request("GET", "/")));
        caller.send(HEADERS, END_STREAM | END_HEADERS, 3, ByteBufUtil.getBytes(block));

        assertThat(caller.next(GOAWAY, 0).number()).isEqualTo((int) Http2Error.COMPRESSION_ERROR.code());
        assertThat(caller.ends()).isTrue();
    }

    @Test
    void aDrainTellsTheCallerAndLetsStreamsEnd() throws Exception {
        caller.get(1, "/");
        FakeRelay.Exchange asked = edge.relay.next();
        CompletableFuture<?> stopped = edge.listener.stop(Duration.ofSeconds(10)).toFuture();

        assertThat(caller.next(GOAWAY, 0).number()).isZero();
        asked.ok("last");
        assertThat(caller.body(1)).isEqualTo("last");
        assertThat(caller.ends()).isTrue();
        stopped.join();
    }

    @Test
    void theEndOfTheGraceClosesWebSocketsAndResetsTheRest() throws Exception {
        caller.head(1, false, request("CONNECT", "/")
                .set(Http2Headers.PseudoHeaderName.PROTOCOL.value(), "websocket"));
        edge.relay.next().head("101", false);
        caller.get(3, "/");
        edge.relay.next().head("200", false).body("half");
        caller.next(DATA, 3);
        CompletableFuture<?> stopped = edge.listener.stop(Duration.ZERO).toFuture();

        assertThat(caller.next(RST_STREAM, 3).number()).isEqualTo((int) Http2Error.INTERNAL_ERROR.code());
        FrameCaller.Frame close = caller.next(DATA, 1);
        assertThat(close.payload()).isEqualTo("\u0088\u0002\u0003\u00e9");
        assertThat(close.ended()).isTrue();
        stopped.join();
    }
}
