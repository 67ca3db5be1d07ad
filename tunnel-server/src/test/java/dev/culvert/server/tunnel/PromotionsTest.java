package dev.culvert.server.tunnel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.WaitingClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §4.3 at the registry: instances that wait, and their promotion. */
class PromotionsTest {
    private static final RegisteredRuntime PROD = new RegisteredRuntime("id-1", "identity-1",
            new RuntimeName("acme", "prod"), "acme-prod.t.example", List.of(), Instant.EPOCH);
    private static final UUID A = new UUID(1, 1);
    private static final UUID B = new UUID(2, 2);
    private static final UUID C = new UUID(3, 3);

    private final MovableClock clock = new MovableClock();
    private final ServerEvents events = new ServerEvents(clock);
    private final TunnelRegistry registry = new TunnelRegistry(clock, new AtomicLong()::incrementAndGet,
            events, new HeldRequests(MemoryBudget.ofProcess(0)));
    private final List<Dialled> all = new ArrayList<>();
    private final List<String> seen = new ArrayList<>();

    PromotionsTest() {
        events.follow(event -> seen.add(event.word()));
    }

    @AfterEach
    void close() {
        all.forEach(dialled -> dialled.ends.close());
    }

    /** A connection and what the server made of it, wired as ServerSession does. */
    private final class Dialled {
        private final TunnelEnds ends;
        private SessionVerdict admission = new SessionVerdict.Refused("not asked");

        Dialled(TunnelEnds ends) {
            this.ends = ends;
            all.add(this);
            ends.drive();
            UUID id = UUID.randomUUID();
            admission = registry.admit(PROD, ends.hello, new TunnelRegistry.Sessions() {
                @Override
                public LiveSession live(long generation) {
                    return make(generation);
                }

                @Override
                public WaitingSession waiting() {
                    return new WaitingSession(id, PROD, ends.hello, ends.handler(), clock.instant(),
                            "127.0.0.1:" + ends.hello.instanceHigh());
                }
            });
            switch (admission) {
                case SessionVerdict.Serves serves -> {
                    ends.live = serves.session();
                    ends.handler().ready(1, 2, serves.session().generation, "acme/prod", PROD.host());
                }
                case SessionVerdict.Waits waits -> ends.handler()
                        .await(1, 2, waits.owned(), "acme/prod",
                                PROD.host());
                case SessionVerdict.Refused refused ->
                    ends.handler().close(ErrorCode.CONFLICT, refused.reason());
            }
            ends.drive();
        }

        LiveSession make(long generation) {
            return new LiveSession(UUID.randomUUID(), PROD, ends.hello, generation, ends.handler(),
                    clock.instant(), "127.0.0.1:1");
        }

        WaitingSession waiting() {
            return ((SessionVerdict.Waits) admission).session();
        }

        /** What the server does once the client has answered: as ServerSession. */
        void drive() {
            int before = ends.generations.size();
            ends.drive();
            if (admission instanceof SessionVerdict.Waits waits && ends.generations.size() > before) {
                waits.session().ended();
                ends.live = registry.promoted(waits.session(), this::make);
            }
        }

        void lose() {
            ends.breakOff();
            if (ends.live != null) {
                registry.remove(ends.live);
            } else {
                waiting().ended();
                registry.ended(waiting());
            }
        }
    }

    private Dialled owner(UUID instance) {
        return new Dialled(TunnelEnds.of(instance, 0, true));
    }

    private Dialled waits(UUID instance, int priority) {
        return new Dialled(TunnelEnds.waiting(instance, 0, priority));
    }

    private void drive() {
        all.forEach(Dialled::drive);
        all.forEach(Dialled::drive);
    }

    @Test
    void anInstanceThatWaitsIsShownAndTakesNoStreams() {
        Dialled a = owner(A);
        Dialled b = waits(B, 3);

        assertThat(b.ends.waiting).containsExactly(a.ends.live().generation);
        assertThat(registry.waitingFor(PROD.id())).singleElement().satisfies(waiting -> {
            assertThat(waiting.state()).isEqualTo(WaitingClient.State.WAITING);
            assertThat(waiting.priority()).isEqualTo(3);
            assertThat(waiting.since()).isEqualTo(clock.instant());
        });
        assertThat(registry.waiting()).isOne();
        assertThat(registry.sessionsOf(PROD.id())).hasSize(1);
        assertThat(registry.pick(PROD.id(), b.ends.loop())).isSameAs(a.ends.live());
        assertThat(seen).contains("waiting");
    }

    @Test
    void itIsPromotedWithAHigherGenerationWhenTheOwnerIsLost() {
        Dialled a = owner(A);
        Dialled b = waits(B, 0);

        a.lose();
        assertThat(registry.isExpected(PROD)).as("requests are held").isTrue();
        drive();

        assertThat(b.ends.generations).containsExactly(b.ends.live().generation);
        assertThat(b.ends.live().generation).isGreaterThan(a.ends.live().generation);
        assertThat(registry.isReachable(PROD.id())).isTrue();
        assertThat(registry.waitingFor(PROD.id())).isEmpty();
        assertThat(registry.promotions().answered()).isOne();
        assertThat(seen).contains("promoted");
    }

    @Test
    void itIsPromotedWhenTheOwnersClientGoesAway() {
        Dialled a = owner(A);
        Dialled b = waits(B, 0);

        registry.stopped(a.ends.live());
        drive();

        assertThat(registry.pick(PROD.id(), b.ends.loop())).isSameAs(b.ends.live());
    }

    @Test
    void theLossOfOneOfTwoConnectionsPromotesNobody() {
        Dialled a = owner(A);
        new Dialled(TunnelEnds.of(A, 1, false));
        Dialled b = waits(B, 9);

        a.lose();
        drive();

        assertThat(b.ends.generations).isEmpty();
    }

    @Test
    void anOwnerThatLeavesServesUntilAnotherOneDoes() {
        Dialled a = owner(A);
        Dialled b = waits(B, 0);

        registry.leaves(a.ends.live());
        assertThat(a.ends.live().isAccepting()).isTrue();
        drive();
        a.drive();

        assertThat(b.ends.live().isAccepting()).isTrue();
        assertThat(a.ends.live().isAccepting()).isFalse();
        assertThat(a.ends.goneAway).containsExactly(ErrorCode.REPLACED);
    }

    @Test
    void anOwnerThatLeavesAloneIsLetGoAtOnce() {
        Dialled a = owner(A);

        registry.leaves(a.ends.live());
        drive();

        assertThat(a.ends.goneAway).containsExactly(ErrorCode.DRAINING);
    }

    @Test
    void anOperatorsDrainHandsOverToTheInstanceThatWaits() {
        Dialled a = owner(A);
        Dialled second = new Dialled(TunnelEnds.of(A, 1, false));
        Dialled b = waits(B, 0);

        assertThat(registry.drain(a.ends.live().id.toString())).isTrue();
        drive();
        drive();

        assertThat(b.ends.live().isAccepting()).isTrue();
        assertThat(List.of(a, second)).allMatch(of -> of.ends.goneAway.equals(List.of(ErrorCode.REPLACED)));
    }

    @Test
    void withoutAnInstanceThatWaitsAnOperatorDrainsOneSession() {
        Dialled a = owner(A);
        Dialled second = new Dialled(TunnelEnds.of(A, 1, false));

        registry.drain(a.ends.live().id.toString());
        drive();

        assertThat(a.ends.goneAway).containsExactly(ErrorCode.DRAINING);
        assertThat(second.ends.live().isAccepting()).isTrue();
    }

    @Test
    void anInstanceThatDoesNotAnswerIsPassedOver() {
        Dialled a = owner(A);
        Dialled mute = waits(B, 9);
        Dialled c = waits(C, 0);
        mute.ends.mute();
        a.lose();
        drive();
        assertThat(registry.waitingFor(PROD.id())).extracting(WaitingClient::state)
                .containsExactlyInAnyOrder(WaitingClient.State.PROMOTED, WaitingClient.State.WAITING);

        mute.ends.pass(Promotions.ANSWER);
        drive();

        assertThat(mute.ends.isOpen()).isFalse();
        assertThat(c.ends.live().isAccepting()).isTrue();
        assertThat(registry.promotions().unanswered()).isOne();
    }

    @Test
    void anOwnerThatComesBackWaits() {
        Dialled a = owner(A);
        Dialled b = waits(B, 0);
        a.lose();
        drive();

        Dialled back = waits(A, 9);

        assertThat(back.ends.waiting).containsExactly(b.ends.live().generation);
        assertThat(b.ends.live().isAccepting()).isTrue();
    }

    @Test
    void theFifthThatWaitsIsRefusedWithTheReason() {
        owner(A);
        for (int i = 0; i < WaitingInstances.MAX; i++) {
            waits(new UUID(5, i), 0);
        }

        assertThat(waits(B, 9).admission).isInstanceOfSatisfying(SessionVerdict.Refused.class,
                refused -> assertThat(refused.reason()).contains("4 wait"));
    }

    @Test
    void anotherSessionOfAnInstanceKeepsItsPlace() {
        owner(A);
        Dialled first = waits(B, 0);
        Instant since = clock.instant();
        clock.advance(Duration.ofMinutes(1));

        Dialled again = waits(B, 0);
        drive();

        assertThat(first.ends.goneAway).containsExactly(ErrorCode.DRAINING);
        first.lose();
        assertThat(registry.waitingFor(PROD.id())).singleElement()
                .satisfies(waiting -> assertThat(waiting.since()).isEqualTo(since));
        assertThat(again.ends.isOpen()).isTrue();
    }

    @Test
    void aRuntimeThatIsDeletedEndsThemAll() {
        owner(A);
        Dialled b = waits(B, 0);

        registry.closeAll(PROD.id(), "deleted");
        drive();

        assertThat(b.ends.goneAway).containsExactly(ErrorCode.UNAUTHORIZED);
        assertThat(b.ends.generations).isEmpty();
    }

    @Test
    void aServerThatStopsSendsThemAwayAndPromotesNobody() {
        Dialled a = owner(A);
        Dialled b = waits(B, 0);

        registry.drainAll(Duration.ofMillis(10)).block(Duration.ofSeconds(10));
        drive();

        assertThat(a.ends.goneAway).containsExactly(ErrorCode.DRAINING);
        assertThat(b.ends.goneAway).containsExactly(ErrorCode.DRAINING);
        assertThat(b.ends.generations).isEmpty();
    }

    @Test
    void aTakeOverBetweenPromotionAndAnswerWins() {
        Dialled a = owner(A);
        Dialled b = waits(B, 0);
        a.lose();

        Dialled c = owner(C);
        drive();

        assertThat(c.ends.live().isAccepting()).isTrue();
        assertThat(b.ends.live).isNull();
        assertThat(b.ends.hello.standby()).isNotEqualTo(Hello.NO_STANDBY);
    }

    @Test
    void connectAndCloseInALoopLeavesNothing() {
        Dialled a = owner(A);
        for (int i = 0; i < 100; i++) {
            waits(new UUID(9, i), i).lose();
        }

        assertThat(registry.waiting()).isZero();
        assertThat(a.ends.live().isAccepting()).isTrue();
    }
}
