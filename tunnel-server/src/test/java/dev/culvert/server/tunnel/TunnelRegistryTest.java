package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.netty.StreamListener;
import dev.culvert.protocol.session.SessionEvent.StreamReset;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelState;
import dev.culvert.server.runtime.WaitingClient;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class TunnelRegistryTest {
    private static final RegisteredRuntime PROD = new RegisteredRuntime("id-1", "identity-1",
            new RuntimeName("acme", "prod"),
            "acme-prod.t.example", List.of(), Instant.EPOCH);
    private static final UUID FIRST = new UUID(1, 1);
    private static final UUID SECOND = new UUID(2, 2);

    private final MovableClock clock = new MovableClock();
    private final ServerEvents events = new ServerEvents(clock);
    private final TunnelRegistry registry = new TunnelRegistry(clock, new AtomicLong()::incrementAndGet,
            events, new HeldRequests(MemoryBudget.ofProcess(0)));
    private final List<TunnelEnds> all = new ArrayList<>();
    /** Those whose streams know that they end soon. */
    private final List<TunnelEnds> told = new ArrayList<>();

    @AfterEach
    void close() {
        all.forEach(TunnelEnds::close);
    }

    /** A connection that asks to be let in; {@code live} is null when it was refused. */
    private TunnelEnds dial(UUID instance, int connection, boolean takeOver) {
        TunnelEnds ends = TunnelEnds.of(instance, connection, takeOver);
        all.add(ends);
        UUID id = UUID.randomUUID();
        ends.drive();
        ends.live = TunnelEnds.admit(registry, PROD, ends.hello,
                generation -> new LiveSession(id, PROD, ends.hello,
                        generation, ends.handler(), clock.instant(), "127.0.0.1:1"));
        if (ends.live != null) {
            ends.handler().ready(1, 2, ends.live().generation, "acme/prod", PROD.host());
        }
        all.forEach(TunnelEnds::drive);
        return ends;
    }

    @Test
    void theFirstClientIsLetInWithoutTakingOver() {
        TunnelEnds first = dial(FIRST, 0, false);

        assertThat(first.live().isAccepting()).isTrue();
        assertThat(registry.stateOf(PROD.id())).isEqualTo(TunnelState.CONNECTED);
        assertThat(registry.connected()).isOne();
    }

    @Test
    void aTunnelThatComesBackAfterItsLossIsAReconnect() {
        TunnelEnds zero = dial(FIRST, 0, true);
        dial(FIRST, 1, true);
        registry.remove(zero.live());
        dial(FIRST, 0, true);
        assertThat(registry.reconnects()).isZero();

        all.stream().map(ends -> ends.live()).forEach(registry::remove);
        dial(FIRST, 0, true);
        dial(FIRST, 1, true);

        assertThat(registry.reconnects()).isOne();
    }

    @Test
    void aNewInstanceTakesTheRuntimeOverWithAHigherGeneration() {
        TunnelEnds old = dial(FIRST, 0, true);

        TunnelEnds owner = dial(SECOND, 0, true);

        assertThat(owner.live().generation).isGreaterThan(old.live().generation);
        assertThat(old.live().isAccepting()).isFalse();
        assertThat(old.goneAway).containsExactly(ErrorCode.REPLACED);
        assertThat(registry.pick(PROD.id(), old.loop())).isSameAs(owner.live());
    }

    @Test
    void anInstanceThatMayNotTakeOverIsRefusedWhileTheOwnerIsThere() {
        TunnelEnds owner = dial(FIRST, 0, true);

        TunnelEnds other = dial(SECOND, 0, false);

        assertThat(other.live).isNull();
        assertThat(owner.live().isAccepting()).isTrue();
        assertThat(owner.goneAway).isEmpty();
    }

    @Test
    void aRefusedInstanceIsShownAsWaitingOnceAndUntilItIsLetInOrGone() {
        List<String> seen = watched();
        TunnelEnds owner = dial(FIRST, 0, true);
        TunnelEnds twin = dial(SECOND, 0, false);

        registry.refused(PROD, twin.hello, "127.0.0.1:7");
        clock.advance(Duration.ofSeconds(60));
        registry.refused(PROD, twin.hello, "127.0.0.1:8");
        registry.refused(PROD, owner.hello, "127.0.0.1:9");

        assertThat(registry.waitingFor(PROD.id())).singleElement().satisfies(waiting -> {
            assertThat(waiting.remote()).isEqualTo("127.0.0.1:8");
            assertThat(waiting.since()).isEqualTo(clock.instant().minusSeconds(60));
            assertThat(waiting.seen()).isEqualTo(clock.instant());
        });
        assertThat(seen).containsExactly("waiting");
        registry.remove(owner.live());
        dial(SECOND, 0, false);
        assertThat(registry.waitingFor(PROD.id())).isEmpty();
    }

    @Test
    void whoDoesNotComeAgainWaitsNoLonger() {
        dial(FIRST, 0, true);
        registry.refused(PROD, dial(SECOND, 0, false).hello, "127.0.0.1:7");

        clock.advance(WaitingClients.GONE.plusMillis(1));

        assertThat(registry.waitingFor(PROD.id())).isEmpty();
    }

    @Test
    void ofThoseWhoWaitTheLastEightAreShown() {
        dial(FIRST, 0, true);

        for (int i = 0; i <= WaitingClients.MAX; i++) {
            registry.refused(PROD, dial(new UUID(50, i), 0, false).hello, "127.0.0.1:" + i);
        }

        assertThat(registry.waitingFor(PROD.id())).extracting(WaitingClient::remote)
                .hasSize(WaitingClients.MAX)
                .doesNotContain("127.0.0.1:0")
                .contains("127.0.0.1:8");
    }

    @Test
    void aTakeOverAndTheDrainOfTheOneBeforeAreEvents() {
        dial(FIRST, 0, true);
        List<String> seen = watched();

        dial(SECOND, 0, true);

        assertThat(seen).containsExactly("draining", "taken-over");
    }

    private List<String> watched() {
        List<String> seen = new ArrayList<>();
        events.watch()
                .subscribe(next -> seen.add(((ServerEvents.Seen.Event) next).event().word()));
        return seen;
    }

    @Test
    void theReplacedInstanceIsRefusedAndGetsTheRuntimeOnceTheOwnerIsGone() {
        dial(FIRST, 0, true);
        TunnelEnds owner = dial(SECOND, 0, true);

        assertThat(dial(FIRST, 0, false).live).isNull();

        registry.remove(owner.live());
        TunnelEnds again = dial(FIRST, 0, false);
        assertThat(again.live().generation).isGreaterThan(owner.live().generation);
    }

    @Test
    void furtherConnectionsOfTheOwnerJoinItsGeneration() {
        TunnelEnds owner = dial(FIRST, 0, true);

        List<TunnelEnds> joined = IntStream.range(1, 4).mapToObj(i -> dial(FIRST, i, true)).toList();

        assertThat(joined).allMatch(ends -> ends.live().generation == owner.live().generation);
        assertThat(registry.sessionsOf(PROD.id())).hasSize(4);
        assertThat(owner.goneAway).isEmpty();
    }

    @Test
    void aConnectionThatCameAgainReplacesItsElderOnly() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);

        TunnelEnds again = dial(FIRST, 1, false);

        assertThat(one.goneAway).containsExactly(ErrorCode.DRAINING);
        assertThat(zero.goneAway).isEmpty();
        assertThat(again.live().generation).isEqualTo(zero.live().generation);
    }

    @Test
    void streamsOfAConnectionThatCameAgainHaveAllTheirTime() {
        TunnelEnds one = dial(FIRST, 1, true);
        busy(one);
        dial(FIRST, 1, false);
        one.pass(LiveSession.DRAIN_GRACE.multipliedBy(2));

        assertThat(one.isOpen()).isTrue();
    }

    @Test
    void streamsOfAClientThatWasReplacedHaveTheDrainsTime() {
        TunnelEnds one = dial(FIRST, 1, true);
        busy(one);
        dial(SECOND, 1, true);
        one.pass(LiveSession.DRAIN_GRACE.minusSeconds(1));
        assertThat(one.isOpen()).isTrue();
        one.pass(Duration.ofSeconds(1));

        assertThat(one.isOpen()).isFalse();
    }

    @Test
    void theGenerationGrowsAlsoWhenTheClockDoesNot() {
        long generation = 0;
        for (int i = 1; i <= 5; i++) {
            LiveSession taken = dial(new UUID(i, i), 0, true).live();
            assertThat(taken.generation).isGreaterThan(generation);
            generation = taken.generation;
        }
    }

    /** Or long WebSockets would end when eight connections have been renewed. */
    @Test
    void sessionsThatDrainAreBoundedApart() {
        int kept = TunnelRegistry.MAX_DRAINING;
        for (int i = 0; i <= kept; i++) {
            busy(dial(new UUID(i, 1), 0, true));
        }
        TunnelEnds oldest = all.getFirst();
        assertThat(registry.sessionsOf(PROD.id())).hasSize(kept + 1);

        TunnelEnds newer = busy(dial(new UUID(98, 1), 0, true));
        assertThat(oldest.isOpen()).isTrue();
        TunnelEnds newest = dial(new UUID(99, 1), 0, true);

        int told = TunnelRegistry.NEXT_TO_END + 1; // the first of them is gone
        assertThat(all.subList(0, told)).allMatch(this::isTold);
        assertThat(all.subList(told, all.size())).noneMatch(this::isTold);
        assertThat(newest.live().isAccepting()).isTrue();
        assertThat(newer.live().isAccepting()).isFalse();
        assertThat(oldest.isOpen()).isFalse();
        assertThat(all.subList(1, all.size())).allMatch(TunnelEnds::isOpen);
        assertThat(registry.pick(PROD.id(), newest.loop())).isSameAs(newest.live());
    }

    @Test
    void streamsHearOfADrainsEndBeforeIt() {
        TunnelEnds one = busy(dial(FIRST, 1, true));
        dial(SECOND, 1, true);
        one.pass(LiveSession.DRAIN_GRACE.minus(LiveSession.LAST_WORDS).minusSeconds(1));
        assertThat(isTold(one)).isFalse();

        one.pass(Duration.ofSeconds(1));

        assertThat(isTold(one)).isTrue();
        assertThat(one.isOpen()).isTrue();
    }

    private boolean isTold(TunnelEnds ends) {
        ends.drive();
        return told.contains(ends);
    }

    /** Has a stream in flight, so that a drain does not end the session. */
    private TunnelEnds busy(TunnelEnds ends) {
        Http2Headers head = new DefaultHttp2Headers(false, 4).method("GET")
                .scheme("https")
                .authority("a")
                .path("/");
        ends.handler().open(StreamKind.HTTP, head, true, new StreamListener() {
            @Override
            public void data(ByteBuf body, boolean last) {
                body.release();
            }

            @Override
            public void trailers(Http2Headers trailers) {}

            @Override
            public void ending() {
                told.add(ends);
            }

            @Override
            public void sent(int bytes) {}

            @Override
            public void reset(StreamReset reset) {}
        });
        ends.drive();
        return ends;
    }

    @Test
    void aSessionOnTheCallersLoopIsPreferred() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);
        busy(one);

        assertThat(registry.pick(PROD.id(), one.loop())).isSameAs(one.live());
        assertThat(registry.pick(PROD.id(), zero.loop())).isSameAs(zero.live());
    }

    @Test
    void aSessionOnTheCallersLoopIsLeftForOneThatHasFarFewerStreams() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);
        for (int i = 0; i < TunnelRegistry.HOP_WORTH_STREAMS; i++) {
            busy(zero);
        }
        assertThat(registry.pick(PROD.id(), zero.loop())).isSameAs(zero.live());

        busy(zero);
        assertThat(registry.pick(PROD.id(), zero.loop())).isSameAs(one.live());
        assertThat(registry.pick(PROD.id(), one.loop())).isSameAs(one.live());

        busy(one);
        assertThat(registry.pick(PROD.id(), zero.loop())).isSameAs(zero.live());
    }

    @Test
    void withoutASessionOnTheCallersLoopTheLeastLoadedIsPicked() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);
        busy(zero);
        TunnelEnds elsewhere = TunnelEnds.of(SECOND, 0, false);
        all.add(elsewhere);

        assertThat(registry.pick(PROD.id(), elsewhere.loop())).isSameAs(one.live());
    }

    @Test
    void aDrainingSessionIsNotPickedEvenOnTheCallersLoop() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);

        one.live().stopAccepting();

        assertThat(registry.pick(PROD.id(), one.loop())).isSameAs(zero.live());
        zero.live().stopAccepting();
        assertThat(registry.pick(PROD.id(), one.loop())).isNull();
    }

    @Test
    void aRuntimeNeverHeardOfHasNoSession() {
        TunnelEnds zero = dial(FIRST, 0, true);

        assertThat(registry.pick("id-2", zero.loop())).isNull();
        assertThat(registry.sessionsOf("id-2")).isEmpty();
        assertThat(registry.stateOf("id-2")).isEqualTo(TunnelState.DISCONNECTED);
    }

    @Test
    void aLostTunnelIsReconnectingFor30Seconds() {
        TunnelEnds only = dial(FIRST, 0, true);

        registry.remove(only.live());

        assertThat(registry.stateOf(PROD.id())).isEqualTo(TunnelState.RECONNECTING);
        clock.advance(TunnelRegistry.RECONNECTING);
        assertThat(registry.stateOf(PROD.id())).isEqualTo(TunnelState.DISCONNECTED);
        assertThat(registry.connected()).isZero();
    }

    @Test
    void aTunnelThatLostOneOfTwoSessionsIsConnected() {
        TunnelEnds zero = dial(FIRST, 0, true);
        dial(FIRST, 1, true);

        registry.remove(zero.live());
        registry.remove(zero.live());

        assertThat(registry.stateOf(PROD.id())).isEqualTo(TunnelState.CONNECTED);
        assertThat(registry.sessionsOf(PROD.id())).hasSize(1);
    }

    @Test
    void closingAllForgetsTheRuntimeAndClosesItsSessions() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);

        registry.closeAll(PROD.id(), "deleted");
        all.forEach(TunnelEnds::drive);

        assertThat(zero.goneAway).containsExactly(ErrorCode.UNAUTHORIZED);
        assertThat(one.isOpen()).isFalse();
        assertThat(registry.stateOf(PROD.id())).isEqualTo(TunnelState.DISCONNECTED);
        assertThat(registry.sessions()).isEmpty();
    }

    @Test
    void aDrainRunsOnThreadsThatMustNotBlock() {
        TunnelEnds one = dial(FIRST, 0, true);
        TunnelEnds other = dial(FIRST, 1, true);

        registry.drainAll(Duration.ofMillis(10))
                .subscribeOn(Schedulers.parallel())
                .block(Duration.ofSeconds(10));

        assertThat(List.of(one, other)).noneMatch(ends -> ends.live().isAccepting());
    }

    @Test
    void manySessionsAreDrainedEvenlyOverTheWholeTime() {
        connect(200);

        StepVerifier.withVirtualTime(() -> registry.drainAll(Duration.ofSeconds(10)))
                .thenAwait(Duration.ofMillis(2499))
                .then(() -> assertThat(draining()).isBetween(45L, 55L))
                .thenAwait(Duration.ofMillis(5000))
                .then(() -> assertThat(draining()).isBetween(145L, 155L))
                .thenAwait(Duration.ofMillis(2501))
                .verifyComplete();
        assertThat(draining()).isEqualTo(200);
    }

    @Test
    void moreSessionsThanTheTimeHasTicksAreDrainedInIt() {
        connect(300);

        StepVerifier.withVirtualTime(() -> registry.drainAll(Duration.ofMillis(300)))
                .thenAwait(Duration.ofMillis(150))
                .then(() -> assertThat(draining()).isBetween(130L, 170L))
                .thenAwait(Duration.ofMillis(150))
                .verifyComplete();
        assertThat(draining()).isEqualTo(300);
    }

    @Test
    void fewSessionsAreDrainedSoon() {
        connect(3);

        StepVerifier.withVirtualTime(() -> registry.drainAll(Duration.ofSeconds(10)))
                .then(() -> assertThat(draining()).isOne())
                .thenAwait(Duration.ofMillis(500))
                .verifyComplete();
        assertThat(draining()).isEqualTo(3);
    }

    @Test
    void withoutSessionsThereIsNothingToDrain() {
        assertThat(registry.drainAll(Duration.ofSeconds(10)).blockOptional(Duration.ofSeconds(5))).isEmpty();
    }

    /** A request that arrives while the first session is being admitted is held, too. */
    @Test
    void aTunnelIsExpectedWhileItsFirstSessionIsAdmitted() {
        RegisteredRuntime before = PROD.withConnected(Instant.EPOCH);
        TunnelEnds ends = TunnelEnds.of(FIRST, 0, true);
        all.add(ends);

        ends.live = TunnelEnds.admit(registry, before, ends.hello, generation -> {
            assertThat(registry.isExpected(before)).isTrue();
            return new LiveSession(UUID.randomUUID(), before, ends.hello, generation, ends.handler(),
                    clock.instant(), "127.0.0.1:1");
        });

        assertThat(registry.isExpected(before)).isTrue();
    }

    @Test
    void whileAnotherServerListensEachTunnelKeepsASession() {
        TunnelEnds kept = dial(FIRST, 0, true);
        TunnelEnds spare = dial(FIRST, 1, true);
        connect(1);

        registry.drainSpares(Duration.ofMillis(10)).block(Duration.ofSeconds(10));
        TunnelEnds again = dial(FIRST, 1, true);
        registry.opened(again.live());
        all.forEach(TunnelEnds::drive);

        assertThat(kept.live().isAccepting()).isTrue();
        assertThat(spare.live().isAccepting()).isFalse();
        assertThat(again.live().isAccepting()).isFalse();
        assertThat(again.goneAway).containsExactly(ErrorCode.DRAINING);
        assertThat(again.delays).singleElement().satisfies(millis -> assertThat(millis).isBetween(250, 499));
        assertThat(draining()).isEqualTo(2);

        registry.remove(kept.live());
        TunnelEnds last = dial(FIRST, 0, true);
        registry.opened(last.live());
        assertThat(last.live().isAccepting()).isTrue();
    }

    @Test
    void aSessionThatOpensWhileTheServerStopsIsSentAway() {
        TunnelEnds early = dial(FIRST, 0, true);
        registry.opened(early.live());
        assertThat(early.live().isAccepting()).isTrue();

        registry.drainAll(Duration.ofMillis(10)).block(Duration.ofSeconds(10));
        TunnelEnds late = dial(FIRST, 1, true);
        registry.opened(late.live());
        late.drive();

        assertThat(late.goneAway).containsExactly(ErrorCode.DRAINING);
    }

    @Test
    void tunnelsWithOneSessionAreDrainedFirst() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);
        connect(1);

        StepVerifier.withVirtualTime(() -> registry.drainAll(Duration.ofSeconds(10)))
                .then(() -> assertThat(draining()).isOne())
                .then(() -> assertThat(List.of(zero, one)).allMatch(ends -> ends.live().isAccepting()))
                .thenAwait(Duration.ofMillis(500))
                .verifyComplete();
    }

    private void connect(int runtimes) {
        for (int i = 0; i < runtimes; i++) {
            var runtime = new RegisteredRuntime("id-" + i, "identity-" + i, new RuntimeName("acme", "r" + i),
                    "acme-r" + i + ".t.example", List.of(), Instant.EPOCH);
            TunnelEnds ends = TunnelEnds.of(new UUID(7, i), 0, false);
            all.add(ends);
            ends.live = TunnelEnds.admit(registry, runtime, ends.hello,
                    generation -> new LiveSession(UUID.randomUUID(),
                            runtime, ends.hello, generation, ends.handler(), clock.instant(), "127.0.0.1:1"));
        }
    }

    private long draining() {
        return all.stream().filter(ends -> !ends.live().isAccepting()).count();
    }

    @Test
    void anOperatorClosesOneSession() {
        TunnelEnds zero = dial(FIRST, 0, true);
        TunnelEnds one = dial(FIRST, 1, true);

        assertThat(registry.close(one.live().id.toString())).isTrue();
        assertThat(registry.close("nothing")).isFalse();
        all.forEach(TunnelEnds::drive);

        assertThat(one.isOpen()).isFalse();
        assertThat(zero.isOpen()).isTrue();
    }

    @Test
    void aSessionShowsItselfToOperators() {
        dial(FIRST, 0, true);

        SessionView view = registry.sessions().getFirst();

        assertThat(view.state()).isEqualTo("open");
        assertThat(view.version()).isEqualTo("test/1");
        assertThat(view.since()).isEqualTo(clock.instant());
        assertThat(view.rttSeconds()).isNaN();
        clock.advance(Duration.ofSeconds(1));
        assertThat(registry.sessions().getFirst().since()).isEqualTo(view.since());
    }
}
