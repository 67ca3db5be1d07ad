package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.outbound.Http2RequestBody;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamProblem;
import dev.culvert.relay.upstream.UpstreamTls;
import dev.culvert.routing.Http2Upstream.Asked;
import dev.culvert.routing.Http2Upstream.Peer;
import dev.culvert.routing.RoutingConfig.Policy;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;
import java.net.InetAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** HTTP/2 connections to an upstream: who gets one, how many there are, and what becomes of exchanges when one ends. */
class Http2PoolIT {
    private static final String[] GRPC = {"content-type", "application/grpc", "te", "trailers"};
    private static final UpstreamLimits LIMITS = Loopback.limits(Loopback.LONG, Loopback.LONG);

    private Http2Loopback loopback = new Http2Loopback();

    @AfterEach
    void nothingIsLeft() {
        loopback.close();
    }

    private void loopback(long maxStreams, UpstreamLimits limits) {
        loopback.close();
        loopback = new Http2Loopback(maxStreams, limits);
    }

    @Test
    void exchangesShareAConnection() {
        List<Asker> askers = Stream.generate(loopback::get).limit(50).toList();

        List<Asked> asked = Stream.generate(loopback::asked).limit(50).toList();
        asked.reversed().forEach(Asked::answer);

        askers.forEach(Asker::awaitEnd);
        assertThat(loopback.relay.openConnections()).isEqualTo(1);
    }

    @Test
    void theUpstreamsLimitHolds() {
        loopback(1, LIMITS);
        List<Asker> askers = Stream.generate(loopback::get).limit(4).toList();

        List<Asked> asked = Stream.generate(() -> loopback.upstream.accept().ask()).limit(4).toList();

        assertThat(loopback.relay.openConnections()).isEqualTo(4);
        asked.forEach(Asked::answer);
        askers.forEach(Asker::awaitEnd);
    }

    /** Four connections of one stream each, two exchanges that wait. */
    @Test
    void whoFindsNoRoomWaitsAndTooManyAreRefused() {
        loopback(1, LIMITS);
        List<Asker> running = Stream.generate(loopback::get).limit(4).toList();
        List<Asked> asked = Stream.generate(() -> loopback.upstream.accept().ask()).limit(4).toList();
        List<Asker> waiting = Stream.generate(loopback::get).limit(2).toList();

        assertThat(loopback.get().awaitProblem()).isEqualTo(UpstreamProblem.OVERLOADED);

        asked.get(0).answer();
        asked.get(1).answer();
        running.subList(0, 2).forEach(Asker::awaitEnd);
        asked.get(0).peer().ask().answer();
        asked.get(1).peer().ask().answer();
        waiting.forEach(Asker::awaitEnd);
    }

    @Test
    void aConnectionWithoutExchangesIsClosedAfterAWhile() {
        loopback(100, Loopback.limits(Loopback.LONG, Duration.ofMillis(50)));
        Asker asker = loopback.get();
        loopback.asked().answer();
        asker.awaitEnd();

        await().until(() -> loopback.relay.openConnections() == 0);
        await().until(loopback.peer()::isClosed);
    }

    /** Else whoever asks could have addresses left out. */
    @Test
    void trailersThatAreTooLargeAreNoFailureOfTheAddress() {
        var settings = new Http2Settings().maxHeaderListSize(1024);
        try (var one = new Http2Upstream(settings, null);
                var other = new Http2Upstream(settings, null);
                Router over = Router
                        .create(new RoutingConfig(List.of(RouteConfig.of("/x/", "h2c://x:1")), List.of(),
                                Policy.refusing(), Map.of("x:1", List.of(at(one), at(other)))))) {
            for (int i = 0; i < 8; i++) {
                Asker asker = new Asker(over, loopback.loops.group().next())
                        .open(Kind.HTTP, "POST", "/x", false)
                        .finish(new DefaultHttp2Headers().set("x", "x".repeat(2000)));
                assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.HEAD_TOO_LARGE);
            }

            assertThat(over.ejectedAddresses()).isZero();
        }
    }

    private static HostPort at(Http2Upstream upstream) {
        return new HostPort("127.0.0.1", upstream.port());
    }

    // ---- what ends ----

    /** RFC 7541 §4.2: each makes the decoder reallocate its table. */
    @Test
    void moreThanTwoTableSizeUpdatesEndTheConnection() {
        Asker asker = loopback.get();
        Asked asked = loopback.asked();

        asked.peer().writeRaw(frames("00000401050000000%d20202088", asked)); // the head of a 200

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BAD_HTTP2);
        await().until(() -> loopback.relay.openConnections() == 0);
    }

    /** RFC 9113 §6.9.2: not an error of the stream whose window overflows. */
    @Test
    void settingsThatOverflowAWindowEndTheConnection() {
        Asker asker = loopback.post();
        Asked asked = loopback.asked();

        asked.peer()
                .writeRaw(
                        frames("00000408000000000%d7fff0000" + "000006040000000000" + "000400010001", asked));

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BAD_HTTP2);
        await().until(() -> loopback.relay.openConnections() == 0);
    }

    /** In hexadecimal, with the stream's number, which has one digit. */
    private static byte[] frames(String hex, Asked asked) {
        return ByteBufUtil.decodeHexDump(hex.formatted(asked.id()));
    }

    @Test
    void whatAConnectionThatGoesAwayDidNotBeginIsSentOnAnother() {
        Asker first = loopback.get();
        Asked begun = loopback.asked();
        Asker second = loopback.post(GRPC).send("whole").finish();
        loopback.asked().awaitEnd();

        loopback.peer().goAway(begun.id());

        Asked again = loopback.upstream.accept().ask();
        again.awaitEnd().awaitBody("whole");
        again.answer();
        second.awaitEnd().awaitConsumed(5);
        begun.answer();
        first.awaitEnd();
        await().until(loopback.peer()::isClosed);
    }

    @Test
    void aRequestOfWhichTooMuchWasSentIsNotSentAgain() {
        Asker first = loopback.get();
        Asked begun = loopback.asked();
        Asker second = loopback.post(GRPC).send("x".repeat(Http2RequestBody.KEPT_BYTES + 1));
        Asked asked = loopback.asked();
        await().until(() -> asked.received.get() > Http2RequestBody.KEPT_BYTES);

        loopback.peer().goAway(begun.id());

        assertThat(second.awaitProblem()).isEqualTo(UpstreamProblem.GOING_AWAY);
        begun.answer();
        first.awaitEnd();
    }

    @Test
    void exchangesAfterAGoAwayTakeAnotherConnection() {
        Asker first = loopback.get();
        Asked begun = loopback.asked();
        loopback.peer().goAway(Integer.MAX_VALUE);
        begun.head("200", false).body("pa", false);
        first.awaitBody("pa");

        Asker second = loopback.get();
        loopback.upstream.accept().ask().answer();
        second.awaitEnd();
        begun.body("rt", true);

        first.awaitEnd();
    }

    @Test
    void aRefusedStreamIsTriedOnceMore() {
        Asker asker = loopback.post(GRPC).send("a").finish();
        loopback.asked().awaitEnd().reset(Http2Error.REFUSED_STREAM);
        Asked again = loopback.asked();
        again.awaitEnd().awaitBody("a");

        again.reset(Http2Error.REFUSED_STREAM);

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.REFUSED_STREAM);
        asker.awaitConsumed(1);
    }

    @Test
    void aRequestStillComingIsTriedAgainFromItsBeginning() {
        Asker asker = loopback.post(GRPC).send("a");
        Asked refused = loopback.asked();
        refused.awaitBody("a");
        refused.reset(Http2Error.REFUSED_STREAM);
        Asked again = loopback.asked();

        asker.send("b").finish();

        again.awaitEnd().awaitBody("ab");
        again.answer();
        asker.awaitEnd().awaitConsumed(2);
    }

    @Test
    void anUpstreamThatIsSilentIsTimedOutAndItsConnectionNotUsedAgain() {
        loopback(100, Loopback.limits(Duration.ofMillis(50), Loopback.LONG));
        Asker asker = loopback.get();
        Asked asked = loopback.asked();

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_TIMEOUT);
        assertThat(asked.awaitReset()).isEqualTo(Http2Error.CANCEL.code());
        Asker next = loopback.get();
        loopback.upstream.accept().ask().answer();
        next.awaitEnd();
    }

    // ---- what is no HTTP/2 ----

    @Test
    void anUpstreamThatAnswersInHttp1IsTold() {
        try (Loopback http1 = new Loopback()) {
            Asker asker = http1.open("POST", GRPC).send("a");

            http1.upstream.accept().write("HTTP/1.1 400 Bad Request\r\n\r\n");

            assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.NO_HTTP2);
            assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_BAD_RESPONSE);
            assertThat(asker.awaitProblem().hop()).isEqualTo(Hop.UPSTREAM);
        }
    }

    @Test
    void anUpstreamThatClosesWithoutAWordIsTold() {
        try (Loopback http1 = new Loopback()) {
            Asker asker = http1.open("POST", GRPC);

            http1.upstream.accept().close();

            assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.NO_WORD);
        }
    }

    @Test
    void anUpstreamThatSaysNothingIsToldAndItsConnectionClosed() {
        try (Loopback http1 = new Loopback(new UpstreamLimits(8, 4, 2, 2, Duration.ofMillis(100),
                Loopback.LONG, Loopback.LONG))) {
            Asker asker = http1.open("POST", GRPC);
            http1.upstream.accept();

            assertThat(asker.awaitProblem().cause()).isIn(Cause.UPSTREAM_REFUSED, Cause.UPSTREAM_RESET);
            await().until(() -> http1.relay.openConnections() == 0);
        }
    }

    @Test
    void anUpstreamThatIsNotThereIsTold() {
        SingleUpstream nowhere = SingleUpstream.create(URI.create("h2c://127.0.0.1:1"), LIMITS);
        Asker asker = new Asker(nowhere, loopback.loops.group().next()).get("/");

        assertThat(asker.awaitProblem().cause()).isEqualTo(Cause.UPSTREAM_REFUSED);
        Leaks.assertNone(nowhere::bufferedBytes, nowhere::openConnections);
    }

    @Test
    void whatIsNoFrameEndsTheConnection() {
        Asker asker = loopback.get();
        loopback.asked();

        loopback.peer().writeRaw(new byte[]{0, 0, 1, 6, 0, 0, 0, 0, 0, 0}); // a PING of one byte

        assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.BAD_HTTP2);
    }

    // ---- who gets HTTP/2 ----

    @ParameterizedTest
    @CsvSource({"http,application/grpc,true", "http,application/grpc+proto,true",
            "http,application/json,false",
            "http,application/grpc-web,false", "http,application/grpc;x=y,true", "h2c,application/json,true"})
    void grpcIsSpokenInHttp2AndAllElseAsTheSchemeSays(String scheme, String type, boolean http2) {
        SingleUpstream relay = SingleUpstream.create(loopback.upstream.uri(scheme), LIMITS);
        Asker asker = new Asker(relay, loopback.loops.group().next())
                .open(Kind.HTTP, "POST", "/", true, "content-type", type);

        if (http2) {
            loopback.asked().answer();
            asker.awaitEnd();
        } else {
            assertThat(asker.awaitProblem().hop()).isEqualTo(Hop.UPSTREAM); // a server of HTTP/2 alone
        }
        relay.close();
        Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
    }

    @Test
    void aWebSocketIsAskedForInHttp1() {
        try (RawUpstream upstream = new RawUpstream()) {
            SingleUpstream relay = SingleUpstream.create(URI.create("h2c://127.0.0.1:" + upstream.port()),
                    LIMITS);
            Asker asker = new Asker(relay, loopback.loops.group().next()).open(Kind.UPGRADE, "GET", "/ws",
                    false,
                    "upgrade", "websocket");

            assertThat(upstream.accept().readHead()).startsWith("GET /ws HTTP/1.1");
            asker.cancel();
            relay.close();
            Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
        }
    }

    @ParameterizedTest
    @CsvSource({"h2,true", "http/1.1,false"})
    void withTlsHttp2IsAgreedOn(String protocol, boolean agreed) {
        var authority = CertificateAuthority.create("test", Clock.systemUTC());
        var material = authority.issueServer(List.of(), List.of(InetAddress.getLoopbackAddress()),
                Duration.ofHours(1));
        try (var upstream = new Http2Upstream(new Http2Settings(),
                TlsContexts.edge(material, List.of(protocol)))) {
            UpstreamTls tls = UpstreamTls
                    .trusting(ServerTrust.inAuthorities(List.of(authority.certificate())),
                            UpstreamTlsIT.LINK);
            SingleUpstream relay = SingleUpstream.create(UpstreamTemplate.of(upstream.uri("https")), LIMITS,
                    tls, UpstreamTlsIT.LINK);
            Asker asker = new Asker(relay, loopback.loops.group().next()).open(Kind.HTTP, "POST", "/", true,
                    GRPC);

            if (agreed) {
                Asked asked = upstream.accept().ask();
                assertThat(asked.head.scheme()).hasToString("https");
                asked.answer();
                asker.awaitEnd();
            } else {
                assertThat(asker.awaitProblem()).isEqualTo(UpstreamProblem.NO_HTTP2);
            }
            relay.close();
            Leaks.assertNone(relay::bufferedBytes, relay::openConnections);
        }
    }
}
