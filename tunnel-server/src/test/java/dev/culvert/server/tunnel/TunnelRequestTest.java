package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.relay.Caller;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.access.AccessRules;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that find no tunnel, and requests whose tunnel is lost under them. */
class TunnelRequestTest {
    private static final RegisteredRuntime PROD = new RegisteredRuntime("id-1", "identity-1",
            new RuntimeName("acme", "prod"), "acme-prod.t.example", List.of(), Instant.EPOCH,
            Instant.EPOCH, OwnLimits.NONE, AccessRules.NONE, null, null);

    private final MovableClock clock = new MovableClock();
    private final TunnelRegistry registry = new TunnelRegistry(clock, new AtomicLong()::incrementAndGet,
            new ServerEvents(clock),
            new HeldRequests(MemoryBudget.ofProcess(0)));
    private final TunnelRelay relay = new TunnelRelay(registry, PROD,
            new RuntimeQuotas(CallerLimits.defaults().ofRuntime(), MemoryBudget.ofProcess(0)).of(PROD.id(),
                    PROD.limits()));
    private final List<TunnelEnds> all = new ArrayList<>();
    /** The caller's event loop: not that of any session. */
    private final EmbeddedChannel caller = new EmbeddedChannel();

    @BeforeEach
    void stopTheClock() {
        caller.freezeTime(); // a busy machine's pauses are nobody's patience
    }

    @AfterEach
    void close() {
        all.forEach(TunnelEnds::close);
        caller.finishAndReleaseAll();
        assertThat(registry.held().count()).isZero();
        assertThat(registry.held().keptBytes()).isZero();
    }

    private TunnelEnds dial() {
        TunnelEnds ends = admit();
        wakeHeld();
        return ends;
    }

    private TunnelEnds admit() {
        UUID id = UUID.randomUUID();
        return admit(id, TunnelEnds.of(id, 0, true));
    }

    private TunnelEnds admit(UUID id, TunnelEnds ends) {
        all.add(ends);
        ends.drive();
        ends.live = TunnelEnds.admit(registry, PROD, ends.hello,
                generation -> new LiveSession(id, PROD, ends.hello,
                        generation, ends.handler(), clock.instant(), "127.0.0.1:1"));
        ends.handler().ready(1, 2, ends.live().generation, "acme/prod", PROD.host());
        ends.drive();
        return ends;
    }

    private void wakeHeld() {
        registry.held().wake(PROD.id());
        drive();
    }

    /** A session whose socket breaks. */
    private void lose(TunnelEnds ends) {
        ends.handler().close(ErrorCode.NO_ERROR, "the connection was lost");
        drive();
        registry.remove(ends.live());
    }

    private void drive() {
        for (int i = 0; i < 4; i++) { // a hop there, one back, and both again for a second attempt
            caller.runPendingTasks();
            all.forEach(TunnelEnds::drive);
        }
        caller.runPendingTasks();
    }

    /** A caller's request. */
    private final class Asked implements ResponseSink {
        final RequestSink request;
        final StringBuilder told = new StringBuilder();
        int consumed;
        @Nullable
        Problem problem;

        Asked(String method, boolean ended) {
            this(method, ended, caller.eventLoop());
        }

        /** A raw connection. */
        Asked(String serverName) {
            request = relay.open(RelayRequest.tcp(serverName, null, caller.eventLoop(),
                    Caller.UNKNOWN), this);
        }

        /** A request of another relay. */
        Asked(TunnelRelay relay) {
            request = relay.open(new RelayRequest(RelayRequest.Kind.HTTP,
                    new DefaultHttp2Headers(false, 4).method("GET").scheme("https").authority("a").path("/"),
                    true, caller.eventLoop()), this);
        }

        Asked(String method, boolean ended, EventLoop loop) {
            Http2Headers head = new DefaultHttp2Headers(false, 4).method(method)
                    .scheme("https")
                    .authority("a")
                    .path("/");
            request = relay.open(new RelayRequest(RelayRequest.Kind.HTTP, head, ended, loop),
                    this);
        }

        /** A WebSocket, of a caller on a loop of its own or that of its session. */
        Asked(EventLoop loop) {
            Http2Headers head = new DefaultHttp2Headers(false, 4).method("GET")
                    .scheme("https")
                    .authority("a")
                    .path("/")
                    .set("upgrade", "websocket");
            request = relay.open(new RelayRequest(RelayRequest.Kind.UPGRADE, head, false, loop), this);
        }

        void body(String text) {
            request.data(Unpooled.copiedBuffer(text, StandardCharsets.UTF_8));
        }

        @Override
        public void informational(Http2Headers head) {}

        @Override
        public void head(Http2Headers head, boolean ended) {
            told.append(head.status());
        }

        @Override
        public void data(ByteBuf body) {
            body.release();
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {}

        @Override
        public void fail(Problem failed) {
            assertThat(problem).as("told once").isNull();
            problem = failed;
            told.append(failed.cause());
        }

        @Override
        public void ending(Problem problem) {
            told.append(" ends: ").append(problem.cause());
        }

        @Override
        public void consumed(int bytes) {
            consumed += bytes;
        }
    }

    private void settle() {
        caller.advanceTimeBy(TunnelRequest.SETTLE.toMillis(), TimeUnit.MILLISECONDS);
        caller.runScheduledPendingTasks();
        drive();
    }

    /** Bytes in either direction, and what either end takes of them: a stream with any of it is not idle. */
    @Test
    void eachDirectionCountsAsWork() {
        TunnelEnds ends = dial();
        var response = new Asked("HEAD", true, caller.eventLoop());
        var request = new TunnelRequest(relay, new RelayRequest(RelayRequest.Kind.HTTP,
                new DefaultHttp2Headers(false, 4).method("POST").scheme("https").authority("a").path("/"),
                false, caller.eventLoop()), response);
        request.enter();
        drive();

        assertTouches(request, () -> request.data(Unpooled.wrappedBuffer(new byte[5])));
        assertTouches(request, this::drive); // the tunnel takes them
        assertThat(response.consumed).isEqualTo(5);
        assertTouches(request, () -> answer(() -> ends.answer("200", false)));
        assertTouches(request, () -> answer(() -> ends.answerBody(10)));
        assertTouches(request, () -> request.consumed(10));

        request.end(null);
        ends.answerEnd();
        drive();
        assertThat(request.place().isClosed()).isTrue();
    }

    /** A runtime's request may have a place before the one that left it has ended its stream. */
    @Test
    void aRequestWaitsAMomentForAStreamOfAFullSession() {
        TunnelEnds ends = dial();
        int streams = SessionLimits.defaults().accepts().streams();
        var wide = new RegisteredRuntime(PROD.id(), PROD.identity(), PROD.name(), PROD.host(), List.of(),
                Instant.EPOCH, Instant.EPOCH,
                new OwnLimits(Map.of(RuntimeLimit.MAX_STREAMS, 2L * streams)), AccessRules.NONE, null, null);
        TunnelRelay many = new TunnelRelay(registry, wide, new RuntimeQuotas(
                CallerLimits.defaults().ofRuntime(), MemoryBudget.ofProcess(0)).of(wide.id(), wide.limits()));
        List<Asked> all = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            all.add(new Asked(many));
        }
        drive();
        assertThat(ends.opened).hasSize(streams);

        var late = new Asked(many);
        drive();
        assertThat(late.problem).isNull();
        all.getFirst().request.cancel(Problem.of(Cause.BAD_REQUEST, Problem.Hop.EDGE, "gone"));
        yieldOnce();
        assertThat(ends.opened).hasSize(streams + 1);

        var refused = new Asked(many);
        for (int i = 0; i < TunnelRequest.MAX_YIELDS; i++) {
            drive();
            assertThat(refused.problem).isNull();
            yieldOnce();
        }
        assertThat(refused.told).hasToString("OVERLOADED");
        all.addAll(List.of(late, refused));
        all.forEach(each -> each.request
                .cancel(Problem.of(Cause.BAD_REQUEST, Problem.Hop.EDGE, "gone")));
        drive();
    }

    private void yieldOnce() {
        drive();
        caller.advanceTimeBy(TunnelRequest.YIELD.toMillis(), TimeUnit.MILLISECONDS);
        caller.runScheduledPendingTasks();
        drive();
    }

    private void assertTouches(TunnelRequest request, Runnable work) {
        long before = request.place().touchedNanos();
        work.run();
        assertThat(request.place().touchedNanos() - before).isPositive();
    }

    private void answer(Runnable client) {
        client.run();
        drive();
    }

    private void assertAnswered(Asked asked, String told) {
        drive();
        assertThat(asked.told).hasToString(told);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void webSocketsHearOfTheirSessionsEnd(boolean crossing) {
        TunnelEnds ends = dial();
        Asked asked = new Asked(crossing ? caller.eventLoop() : ends.loop());
        drive();
        ends.answer("101", false);
        drive();

        ends.live().closeWebSockets();

        assertAnswered(asked, "101 ends: " + Cause.DRAINING);
        assertThat(ends.isOpen()).isTrue();
    }

    @Test
    void aWebSocketThatOpensInASessionThatEndsHearsOfIt() {
        TunnelEnds ends = dial();
        Asked asked = new Asked(caller.eventLoop());
        drive();
        ends.live().closeWebSockets();
        assertAnswered(asked, "");

        ends.answer("101", false);

        assertAnswered(asked, "101 ends: " + Cause.DRAINING);
    }

    @Test
    void whatIsNoWebSocketHasItsTimeToTheSessionsEnd() {
        TunnelEnds ends = dial();
        Asked asked = new Asked("GET", true);
        drive();

        ends.live().closeWebSockets();
        ends.answer("200");

        assertAnswered(asked, "200");
    }

    @Test
    void aRequestWaitsForATunnelThatWasLostLately() {
        lose(dial());
        clock.advance(Duration.ofSeconds(29));

        Asked asked = new Asked("POST", false);
        asked.body("he");
        assertThat(registry.held().count()).isOne();
        asked.body("llo");
        asked.request.end(null);
        TunnelEnds back = dial();

        assertThat(back.opened).hasSize(1);
        assertThat(back.bodies).hasToString("hello");
        back.answer("200");
        assertAnswered(asked, "200");
        assertThat(asked.consumed).isEqualTo(5);
    }

    @Test
    void aRequestThatMeetsADeadSessionOnItsOwnLoopWaitsForTheNextOne() {
        TunnelEnds dead = dial();
        dead.handler().close(ErrorCode.NO_ERROR, "the connection was lost"); // and nobody has told the registry

        Asked asked = new Asked("POST", true, dead.loop());
        assertThat(registry.held().count()).isOne();
        registry.remove(dead.live());
        TunnelEnds back = dial();
        drive();

        back.answer("200");
        assertAnswered(asked, "200");
    }

    @Test
    void aRequestThatMeetsOnlyDeadSessionsEndsAfterABound() {
        lose(dial());
        Asked asked = new Asked("POST", true);
        for (int i = 0; i < TunnelRequest.MAX_MISSES; i++) {
            assertAnswered(asked, "");
            TunnelEnds dead = admit();
            dead.handler().close(ErrorCode.NO_ERROR, "the connection was lost");
            wakeHeld();
        }

        assertAnswered(asked, Cause.DRAINING.toString());
    }

    /** A session that takes the held request, and is lost before that is touched. */
    private void miss() {
        TunnelEnds dead = admit();
        dead.handler().close(ErrorCode.NO_ERROR, "the connection was lost");
        wakeHeld();
    }

    private void pass(long millis) {
        caller.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        caller.runScheduledPendingTasks();
    }

    @Test
    void aCallerLearnsSinceWhenARuntimeIsGone() {
        clock.advance(TunnelRegistry.RECONNECTING);
        assertThat(detailOf(new Asked("GET", true)))
                .isEqualTo(
                        "the runtime is not connected: its client has not connected since this server started");

        lose(dial());
        clock.advance(TunnelRegistry.RECONNECTING.plusSeconds(1));

        assertThat(detailOf(new Asked("GET", true)))
                .isEqualTo("the runtime is not connected: gone since 2026-01-02T03:04:35Z");
    }

    private static String detailOf(Asked asked) {
        return Objects.requireNonNull(asked.problem).detail();
    }

    @Test
    void aRequestThatIsMissedAgainAndAgainWaitsNoLongerInAll() {
        lose(dial());
        Asked asked = new Asked("POST", true);
        for (int i = 0; i < 4; i++) {
            pass(TunnelRequest.HOLD.toMillis() / 5);
            miss();
            assertAnswered(asked, "");
        }

        pass(TunnelRequest.HOLD.toMillis() / 5);

        assertAnswered(asked, Cause.NO_TUNNEL.toString());
    }

    @Test
    void aRequestThatIsMissedAfterItsPatienceDoesNotWaitAgain() {
        lose(dial());
        Asked asked = new Asked("POST", true);
        TunnelEnds slow = dial();
        drive();
        assertThat(slow.opened).hasSize(1);
        pass(TunnelRequest.HOLD.toMillis());
        assertAnswered(asked, "");

        slow.clientGoesAway();
        lose(slow);

        assertThat(registry.held().count()).isZero();
        assertThat(asked.problem).isNotNull();
    }

    @Test
    void aRequestWhoseSecondTunnelIsLostWaitsAnew() {
        lose(dial());
        Asked asked = new Asked("GET", true);
        TunnelEnds second = dial();
        drive();
        pass(TunnelRequest.HOLD.toMillis());

        lose(second);
        settle();
        assertAnswered(asked, "");
        pass(TunnelRequest.HOLD.toMillis() - 1);
        assertAnswered(asked, "");
        pass(1);

        assertAnswered(asked, Cause.TUNNEL_LOST.toString());
    }

    @Test
    void aRequestThatWaitsTooLongIs503() {
        lose(dial());
        Asked asked = new Asked("GET", true);
        caller.advanceTimeBy(TunnelRequest.HOLD.toMillis() - 1, TimeUnit.MILLISECONDS);
        caller.runScheduledPendingTasks();
        assertAnswered(asked, "");

        caller.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        caller.runScheduledPendingTasks();

        assertAnswered(asked, Cause.NO_TUNNEL.toString());
    }

    @Test
    void aTunnelLostLongAgoIsNotWaitedFor() {
        lose(dial());
        clock.advance(TunnelRegistry.RECONNECTING);

        assertAnswered(new Asked("GET", true), Cause.NO_TUNNEL.toString());
    }

    @Test
    void aRuntimeThatWasConnectedBeforeTheServersStartIsWaitedForAtFirst() {
        Asked asked = new Asked("GET", true);
        assertAnswered(asked, "");
        dial().answer("204");
        assertAnswered(asked, "204");

        var unused = new RegisteredRuntime("id-2", "identity-2", new RuntimeName("acme", "new"),
                "acme-new.t.example",
                List.of(), Instant.EPOCH);
        assertThat(registry.isExpected(unused)).isFalse();
    }

    @Test
    void aCallerThatLeavesWhileItWaitsIsForgotten() {
        lose(dial());
        Asked asked = new Asked("POST", false);
        asked.body("x");

        asked.request.cancel(Problem.of(Cause.BAD_REQUEST, Problem.Hop.EDGE, "gone"));

        assertThat(registry.held().count()).isZero();
        assertThat(dial().opened).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "HEAD", "OPTIONS"})
    void aSafeRequestIsSentAgainThreeTimes(String method) {
        TunnelEnds first = dial();
        Asked asked = new Asked(method, true);
        drive();
        assertThat(first.opened).hasSize(1);

        TunnelEnds last = first;
        for (int i = 0; i < 3; i++) {
            lose(last);
            assertAnswered(asked, "");
            last = dial();
            assertThat(last.opened).isEmpty(); // it may be about to break as well
            settle();
            assertThat(last.opened).hasSize(1);
            assertThat(last.opened.getFirst().head().method()).hasToString(method);
        }
        lose(last);

        assertAnswered(asked, Cause.TUNNEL_LOST.toString());
        assertThat(dial().opened).isEmpty();
    }

    @Test
    void aSafeRequestThatWasLostTwiceIsAnswered() {
        TunnelEnds first = dial();
        Asked asked = new Asked("GET", true);
        drive();
        lose(first);
        TunnelEnds second = dial();
        settle();
        lose(second);
        TunnelEnds third = dial();
        settle();

        third.answer("200");

        assertAnswered(asked, "200");
    }

    @Test
    void anUnsafeRequestThatTheClientMayHaveSeenIsNotSentAgain() {
        TunnelEnds first = dial();
        Asked asked = new Asked("POST", true);
        drive();

        lose(first);

        assertAnswered(asked, Cause.TUNNEL_LOST.toString());
    }

    @Test
    void aRequestWhoseResponseHasBegunIsNotSentAgain() {
        TunnelEnds first = dial();
        Asked asked = new Asked("GET", false);
        drive();
        first.answer("200");
        drive();

        lose(first);

        assertAnswered(asked, "200" + Cause.TUNNEL_LOST);
    }

    @Test
    void anUnsafeRequestThatNeverLeftIsSentAgainWithItsBody() {
        TunnelEnds first = dial();
        Asked asked = new Asked("POST", false);
        asked.body("body");
        asked.request.end(null);

        first.handler().close(ErrorCode.NO_ERROR, "the connection was lost"); // before anything was polled
        caller.runPendingTasks();
        drive();
        registry.remove(first.live());
        TunnelEnds second = dial();

        assertThat(first.opened).isEmpty();
        assertThat(second.opened).hasSize(1);
        assertThat(second.bodies).hasToString("body");
        second.answer("201");
        assertAnswered(asked, "201");
        assertThat(asked.consumed).isEqualTo(4);
    }

    @Test
    void anUnsafeRequestThatTheClientRefusesBecauseItGoesAwayIsSentAgainWithItsBody() {
        TunnelEnds first = dial();
        first.clientGoesAway(); // on its way while the request is sent
        Asked asked = new Asked("POST", false);
        asked.body("body");
        asked.request.end(null);
        drive();

        TunnelEnds second = dial();

        assertThat(second.opened).hasSize(1);
        assertThat(second.bodies).hasToString("body");
        second.answer("201");
        assertAnswered(asked, "201");
        assertThat(asked.consumed).isEqualTo(4);
    }

    @Test
    void aLongBodyIsNotKept() {
        TunnelEnds first = dial();
        Asked asked = new Asked("POST", false);
        drive();
        asked.body("x".repeat(ReplayBody.MAX_COST + 1));
        assertThat(registry.held().keptBytes()).isZero();

        first.clientGoesAway();
        lose(first);

        assertAnswered(asked, Cause.TUNNEL_LOST.toString());
    }

    /** A client that takes raw connections. */
    private TunnelEnds admitRaw() {
        UUID id = UUID.randomUUID();
        TunnelEnds ends = admit(id, TunnelEnds.taking(id, Hello.TCP));
        wakeHeld();
        return ends;
    }

    @Test
    void aRawConnectionIsAStreamOfItsOwnKind() {
        TunnelEnds ends = admitRaw();
        Asked raw = new Asked("db.acme-prod.t.example");
        raw.body("hello");
        drive();

        assertThat(ends.opened.getLast().kind()).isEqualTo(StreamKind.TCP);
        assertThat(ends.opened.getLast().head().authority()).hasToString("db.acme-prod.t.example");
        assertThat(ends.bodies).hasToString("hello");
    }

    @Test
    void aClientOfOldTakesNoRawConnections() {
        TunnelEnds ends = dial();
        Asked raw = new Asked("db.acme-prod.t.example");
        raw.body("hello");
        drive();

        assertThat(raw.problem).isNotNull().extracting(Problem::cause).isEqualTo(Cause.NOT_ALLOWED);
        assertThat(ends.opened).isEmpty();
    }

    @Test
    void aRawConnectionWaitsForItsTunnel() {
        lose(admitRaw());
        Asked raw = new Asked("db.acme-prod.t.example");
        raw.body("hello");
        drive();
        assertThat(raw.problem).isNull();

        TunnelEnds back = admitRaw();
        drive();

        assertThat(back.bodies).hasToString("hello");
    }

    @Test
    void aRawConnectionIsNotSentAgainOnceItsBytesWereSent() {
        TunnelEnds first = admitRaw();
        Asked raw = new Asked("db.acme-prod.t.example");
        raw.body("hello");
        drive();
        assertThat(first.bodies).hasToString("hello");

        lose(first);
        TunnelEnds back = admitRaw();
        drive();

        assertThat(raw.problem).isNotNull().extracting(Problem::cause).isEqualTo(Cause.TUNNEL_LOST);
        assertThat(back.opened).isEmpty();
    }
}
