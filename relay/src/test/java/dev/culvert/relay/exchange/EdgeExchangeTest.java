package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.observe.MemoryRefusals;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.inbound.EmbeddedEdge;
import dev.culvert.relay.inbound.http1.Http1EdgeConnection;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a runtime answers that HTTP/1.1 can't say, and callers that take nothing. */
class EdgeExchangeTest {
    private static final String GET = "GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n";

    private static final Problem ENDING = Problem.of(Problem.Cause.DRAINING, Problem.Hop.TUNNEL, "gone");
    /** A server's Close, 1001. */
    private static final String GOING_AWAY = "\u0088\u0002\u0003\u00e9";

    private final EmbeddedEdge edge = new EmbeddedEdge();

    @AfterEach
    void close() {
        edge.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "-1", "+1", "1, 1", "0x1", "", "99999999999999999999", "1 "})
    void aResponseWithABadLengthIs502(String length) {
        edge.send(GET);
        edge.only().head("200", false, "content-length", length).body("a").end();

        assertThat(edge.written()).startsWith("HTTP/1.1 502").contains("upstream-bad-response");
        assertThat(edge.only().cancelled).isNotNull();
        assertThat(edge.isOpen()).isTrue();
    }

    @Test
    void aResponseWithTwoLengthsIs502() {
        edge.send(GET);
        edge.only().head("200", false, "content-length", "1", "content-length", "2").body("a").end();

        assertThat(edge.written()).startsWith("HTTP/1.1 502").contains("upstream-bad-response");
    }

    @Test
    void aResponseThatEndsInItsHeadThoughItHasALengthIs502() {
        edge.send(GET);
        edge.only().head("200", true, "content-length", "5");

        assertThat(edge.written()).startsWith("HTTP/1.1 502").contains("upstream-bad-response");
    }

    @Test
    void anUpgradeThatNobodyAskedForIs502() {
        edge.send(GET);
        edge.only().head("101", false);

        assertThat(edge.written()).startsWith("HTTP/1.1 502").contains("upstream-bad-response");
        assertThat(edge.only().cancelled).isNotNull();
    }

    @Test
    void aResponseLongerThanItsLengthIsCutAndResetSoThatTheRestIsNoResponse() {
        edge.send(GET + GET);
        edge.only().head("200", false, "content-length", "2").body("okHTTP/1.1 200 OK\r\n\r\n");

        assertThat(edge.written()).doesNotContain("okHTTP");
        assertThat(edge.only().cancelled).isNotNull();
        assertThat(edge.isOpen()).isFalse();
        assertThat(edge.relay.all).hasSize(1);
    }

    @Test
    void aResponseShorterThanItsLengthIsReset() {
        edge.send(GET + GET);
        edge.only().head("200", false, "content-length", "3").body("ok").end();

        assertThat(edge.isOpen()).isFalse();
        assertThat(edge.relay.all).hasSize(1);
    }

    @Test
    void theLengthOfAnAnswerToHeadIsNotItsBodys() {
        edge.send("HEAD / HTTP/1.1\r\nHost: acme.example\r\n\r\n");
        edge.only().head("200", false, "content-length", "3").end();

        assertThat(edge.written()).contains("Content-Length: 3");
        assertThat(edge.isOpen()).isTrue();
    }

    @Test
    void pipelinedRequestsWaitWhileTheCallerTakesNothing() {
        edge.relay.answer(exchange -> exchange.ok("ok"));
        edge.writable(false);
        edge.send(GET.repeat(50));
        assertThat(edge.relay.all).isEmpty();

        edge.writable(true);
        edge.written();

        assertThat(edge.relay.all).hasSize(50);
    }

    @Test
    void pipelinedRequestsWaitAsTheBytesThatTheyAre() {
        var decoded = new AtomicInteger();
        var pipeline = edge.channel().pipeline();
        pipeline.addBefore(pipeline.context(Http1EdgeConnection.class).name(), "counting",
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                        decoded.addAndGet(message instanceof HttpContent ? 0 : 1);
                        ctx.fireChannelRead(message);
                    }
                });
        edge.send(GET.repeat(500) + "POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 2\r\n\r\nok");
        assertThat(decoded).hasValue(2);

        for (int i = 1; i <= 500; i++) {
            assertThat(edge.relay.all).hasSize(i);
            edge.only().ok("ok");
            edge.written();
        }
        assertThat(edge.only().body()).isEqualTo("ok");
        edge.only().ok("ok");
        edge.written();

        assertThat(decoded).hasValue(501);
        assertThat(edge.isReading()).isTrue();
    }

    @Test
    void whatStandsBehindATunnelsRequestIsTheTunnels() {
        List<Object> entered = new ArrayList<>();
        TunnelWay door = new TunnelWay() {
            @Override
            public boolean mayBeAt(CharSequence target) {
                return true;
            }

            @Override
            public boolean isFor(HttpRequest request) {
                return request.uri().equals("/tunnel");
            }

            @Override
            public void enter(ChannelHandlerContext ctx, ChannelHandler encoder, HttpRequest request,
                    Queue<Object> behind) {
                ctx.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext own, Object message) {
                        entered.add(message);
                    }
                });
                ctx.fireChannelRead(request);
                ctx.pipeline().remove(ctx.handler());
            }
        };
        try (EmbeddedEdge both = EmbeddedEdge.shared(door)) {
            both.send(GET + "POST /tunnel HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 2\r\n\r\nok");
            both.only().ok("ok");
            both.written();

            assertThat(entered).hasSize(2);
            assertThat(entered.getLast()).isInstanceOfSatisfying(LastHttpContent.class,
                    last -> assertThat(last.content().toString(StandardCharsets.US_ASCII)).isEqualTo("ok"));
            entered.forEach(ReferenceCountUtil::release);
        }
    }

    @Test
    void aPipelinedRequestWaitsWhenTheAnswerBeforeItFillsTheSocket() {
        edge.send(GET + GET);
        edge.writable(false);
        edge.only().ok("ok");
        edge.written();
        assertThat(edge.relay.all).hasSize(1);

        edge.writable(true);
        edge.written();

        assertThat(edge.relay.all).hasSize(2);
    }

    @Test
    void trailersForThisHopDoNotCross() {
        edge.send("POST / HTTP/1.1\r\nHost: acme.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n");
        edge.send("Connection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nUpgrade: h2c\r\nX-Sum: 9\r\n\r\n");

        Http2Headers trailers = Objects.requireNonNull(edge.only().trailers);
        assertThat(trailers).hasSize(1);
        assertThat(trailers.get("x-sum")).hasToString("9");
    }

    /** A WebSocket, and the exchange behind it. */
    private FakeRelay.Exchange upgraded() {
        edge.send(GET.replace("\r\n\r\n", "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
        FakeRelay.Exchange exchange = edge.only().head("101", false, "sec-websocket-accept", "y");
        edge.written();
        return exchange;
    }

    @Test
    void aWebSocketWhoseWayEndsIsClosedBehindItsFrame() {
        FakeRelay.Exchange exchange = upgraded().body("\u0081\u0005hel").ending(ENDING);
        assertThat(edge.written()).isEqualTo("\u0081\u0005hel");
        assertThat(exchange.cancelled).isNull();

        exchange.body("lo");

        assertThat(edge.written()).isEqualTo("lo" + GOING_AWAY);
        assertThat(exchange.cancelled).isEqualTo(ENDING);
        assertThat(edge.isOpen()).isFalse();
    }

    @Test
    void anIdleWebSocketWhoseWayEndsIsClosedAtOnce() {
        FakeRelay.Exchange exchange = upgraded().ending(ENDING);

        assertThat(edge.written()).isEqualTo(GOING_AWAY);
        assertThat(exchange.cancelled).isEqualTo(ENDING);
    }

    @Test
    void aResponseWhoseWayEndsSoonMayStillEnd() {
        edge.send(GET);
        edge.only().head("200", false, "content-length", "4").body("in").ending(ENDING).body("ti").end();

        assertThat(edge.written()).endsWith("\r\n\r\ninti");
        assertThat(edge.only().cancelled).isNull();
    }

    @Test
    void everyByteOfAResponseIsReportedOnce() {
        edge.send(GET);
        edge.only().head("200", false).body("early").body(1000).end();
        edge.written();

        assertThat(edge.only().consumed).hasValue(1005);
    }

    @Test
    void bodyBytesBeforeTheHeadAreDroppedAndReported() {
        edge.send(GET);
        edge.only().body("early").ok("ok");

        assertThat(edge.written()).endsWith("\r\n\r\nok");
        assertThat(edge.only().consumed).hasValue(7);
    }

    @Test
    void aBodyThatBreaksBehindItsAnswerEndsTheConnection() {
        edge.send("POST / HTTP/1.1\r\nHost: acme.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
        edge.only().ok("ok");
        assertThat(edge.isOpen()).isTrue();

        edge.send("zz\r\n");

        assertThat(edge.isOpen()).isFalse();
    }

    /** Bounds of time and rate: DiscardedInputTest. */
    @Test
    void aLongBodyBehindItsAnswerIsReadAndDropped() {
        edge.send("POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 10000000\r\n\r\na");
        edge.only().ok("ok");

        edge.send("a".repeat(2 << 20));

        assertThat(edge.isOpen()).isTrue();
        assertThat(edge.only().receivedBytes).hasValue(1);
    }

    @Test
    void behindABrokenAnswerThatWaitsForItsCallerNoRequestIsServed() {
        edge.send("POST / HTTP/1.1\r\nHost: acme.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
        edge.only().head("200", false);
        edge.written();
        edge.block(true);
        edge.only().body("half").fail(Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost"));

        edge.send("0\r\n\r\n" + GET);

        assertThat(edge.relay.all).hasSize(1);
        edge.block(false);
        assertThat(edge.isOpen()).isFalse();
        assertThat(edge.relay.all).hasSize(1);
    }

    @Test
    void aHeadThatCannotBeWrittenEndsItsConnection() {
        long before = MemoryRefusals.CALLER.total();
        edge.send(GET);
        edge.withoutDirectMemory();
        edge.only().head("200", false, "content-length", "2");

        assertThat(edge.isOpen()).isFalse();
        assertThat(MemoryRefusals.CALLER.total()).isGreaterThan(before);
        assertThat(edge.only().cancelled).isNotNull();
    }
}
