package dev.culvert.inbox.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.inbox.model.QueuedWebhook;
import dev.culvert.inbox.model.SourceKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which webhook is next: pure state, time is a number. */
class DispatchPlanTest {
    private final DispatchPlan plan = new DispatchPlan(8);
    private final DispatchPlan wide = new DispatchPlan(256);
    private long seq;

    @Test
    void runtimesAndTheirSourcesTakeTurns() {
        for (String runtime : List.of("a", "b")) {
            for (String source : List.of("x", "x", "x", "y")) {
                plan.stored(pending(runtime, source));
            }
        }

        List<String> sent = new ArrayList<>();
        for (QueuedWebhook next = next(0); next != null; next = next(0)) {
            sent.add(next.runtime + next.source);
        }

        assertThat(sent).containsExactly("ax", "bx", "ay", "by");
    }

    @Test
    void oneOfASourceIsUnderWayAtATime() {
        plan.stored(pending("a", "x"));
        plan.stored(pending("a", "x"));
        QueuedWebhook first = taken(0);

        assertThat(next(0)).isNull();
        plan.ended(first);
        QueuedWebhook second = taken(0);
        assertThat(second.seq).isGreaterThan(first.seq);
    }

    @Test
    void aRuntimeHasAQuarterOfAllAttempts() {
        for (int i = 0; i < 20; i++) {
            plan.stored(pending("a", "source" + i));
        }

        assertThat(next(0)).isNotNull();
        assertThat(next(0)).isNotNull();
        assertThat(next(0)).isNull();
        plan.stored(pending("b", "x"));
        assertThat(next(0)).isNotNull();
    }

    @Test
    void allAttemptsAreBounded() {
        for (int i = 0; i < 20; i++) {
            plan.stored(pending("runtime" + i, "x"));
        }

        for (int i = 0; i < 8; i++) {
            assertThat(next(0)).isNotNull();
        }
        assertThat(next(0)).isNull();
    }

    @Test
    void aRuntimeWithNoneGetsASlotWhenOthersHaveManySlow() {
        for (int runtime = 0; runtime < 4; runtime++) {
            for (int source = 0; source < 100; source++) {
                wide.stored(pending("slow" + runtime, "s" + source));
            }
        }
        while (wide.next(0, any -> true) != null) {
            assertThat(wide.flying()).hasSizeLessThanOrEqualTo(256);
        }

        for (int runtime = 0; runtime < 60; runtime++) {
            wide.stored(pending("quick" + runtime, "x"));
            assertThat(wide.next(0, any -> true)).as("runtime %s", runtime).isNotNull();
        }
    }

    @Test
    void freeSlotsGoToTheRuntimeThatHasFewest() {
        List<QueuedWebhook> slow = new ArrayList<>();
        for (int source = 0; source < 300; source++) {
            for (int runtime = 0; runtime < 4; runtime++) {
                wide.stored(pending("slow" + runtime, "s" + source));
            }
        }
        for (QueuedWebhook next = wide.next(0, any -> true); next != null; next = wide.next(0, any -> true)) {
            slow.add(next);
        }
        for (int source = 0; source < 20; source++) {
            wide.stored(pending("quick", "s" + source));
        }
        List<String> served = new ArrayList<>(List.of(takenOfWide()));

        for (QueuedWebhook late : slow.subList(0, 20)) {
            wide.ended(late);
            for (QueuedWebhook next = wide.next(0, any -> true); next != null; next = wide.next(0,
                    any -> true)) {
                served.add(next.runtime);
            }
        }

        assertThat(served).hasSizeGreaterThanOrEqualTo(20).containsOnly("quick");
    }

    @Test
    void quickSourcesAreServedBesideManySlowOnes() {
        wide.stored(pending("a", "known"));
        QueuedWebhook known = Objects.requireNonNull(wide.next(0, any -> true), "nothing is to be sent");
        wide.took(known, 10);
        wide.ended(known);
        for (int source = 0; source < 100; source++) {
            wide.stored(pending("a", "slow" + source));
        }
        while (wide.next(0, any -> true) != null) {
            assertThat(wide.flying()).hasSizeLessThanOrEqualTo(64);
        }

        wide.stored(pending("a", "known"));
        assertThat(takenOfWide()).isEqualTo("a");
        QueuedWebhook slow = wide.flying()
                .stream()
                .filter(one -> one.source.startsWith("slow"))
                .findAny()
                .orElseThrow();
        wide.took(slow, 15_000);
        wide.ended(slow);
        QueuedWebhook next = Objects.requireNonNull(wide.next(0, any -> true), "nothing is to be sent");
        assertThat(next.source).startsWith("slow");
        assertThat(wide.next(0, any -> true)).isNull();
    }

    @Test
    void onlyTheLatestQuickSourcesAreRemembered() {
        var quick = new QuickSources();
        for (int i = 0; i < 20_000; i++) {
            quick.took("source" + i, 1);
        }

        assertThat(quick.size()).isEqualTo(10_000);
        assertThat(quick.contains("source0")).isFalse();
        assertThat(quick.contains("source19999")).isTrue();
        quick.took("source19999", QuickSources.SLOW_MILLIS);
        assertThat(quick.contains("source19999")).isFalse();
    }

    @Test
    void whatThePolicyRefusesForAnHourIsGivenUp() {
        long hour = 3_600_000;
        plan.stored(pending("a", "x"));
        QueuedWebhook first = taken(10 * hour);
        plan.forbidden(first, 10 * hour);

        assertThat(plan.isForbiddenForGood(first, 11 * hour - 1)).isFalse();
        assertThat(plan.isForbiddenForGood(first, 11 * hour)).isTrue();
        assertThat(taken(11 * hour)).isSameAs(first);
        plan.refused(first, 11 * hour);
        assertThat(plan.isForbiddenForGood(first, 12 * hour)).as("the policy let it pass").isFalse();
    }

    @Test
    void aRefusedSourceIsAskedOnceASecond() {
        plan.stored(pending("a", "x"));
        QueuedWebhook first = taken(0);
        plan.refused(first, 0);

        assertThat(next(999)).isNull();
        assertThat(plan.nextAt()).isEqualTo(1000);
        assertThat(next(1000)).isSameAs(first);
    }

    @Test
    void aReturningTunnelWakesWhatWaitsForIt() {
        plan.stored(pending("a", "x"));

        assertThat(plan.next(0, runtime -> false)).isNull();
        assertThat(next(10_000)).isNull();
        assertThat(plan.awaited()).containsExactly("a");
        plan.reachable("a");
        assertThat(next(10_000)).isNotNull();
    }

    @Test
    void aFailedOneHoldsUpItsLineUntilItStepsAside() {
        plan.stored(pending("a", "x"));
        plan.stored(pending("a", "x"));
        QueuedWebhook first = taken(0);
        first.failures = 1;
        first.next = 5000;
        plan.retried(first, false);

        assertThat(next(4999)).isNull();
        assertThat(taken(5000)).isSameAs(first);
        first.next = 30_000;
        first.aside = true;
        plan.retried(first, false);
        QueuedWebhook second = taken(5000);
        assertThat(second).isNotSameAs(first);
        assertThat(taken(30_000)).isSameAs(first);
    }

    @Test
    void whatIsBeyondTheWindowIsReadWhenThereIsRoom() {
        int stored = 0;
        while (plan.stored(pending("a", "x"))) {
            stored++;
        }
        assertThat(stored).isEqualTo(SourceQueue.WINDOW);

        DispatchPlan.Load wanted = null;
        long last = 0;
        for (int i = 0; i < SourceQueue.WINDOW && wanted == null; i++) {
            QueuedWebhook sent = taken(0);
            last = sent.seq;
            plan.ended(sent);
            wanted = plan.pollLoad();
        }

        DispatchPlan.Load load = Objects.requireNonNull(wanted, "nothing is read");
        assertThat(load.source().lastSeq()).isEqualTo(SourceQueue.WINDOW);
        plan.loaded(load, List.of(pendingOf(SourceQueue.WINDOW + 1, "a", "x")));
        while (last <= SourceQueue.WINDOW) {
            QueuedWebhook sent = taken(0);
            assertThat(sent.seq).isEqualTo(last + 1);
            last = sent.seq;
            plan.ended(sent);
        }
    }

    @Test
    void aSourceWithNothingToDoIsForgotten() {
        plan.stored(pending("a", "x"));
        assertThat(plan.isIdle("a", "x")).isFalse();
        plan.ended(taken(0));

        assertThat(next(0)).isNull();
        assertThat(plan.isIdle("a", "x")).isTrue();
    }

    @Test
    void aForgottenSourceTouchesNoLaterOneOfItsName() {
        plan.stored(pending("a", "x"));
        QueuedWebhook first = taken(0);
        plan.refused(first, 0);
        assertThat(next(0)).isNull();
        plan.reachable("a");
        assertThat(taken(1)).isSameAs(first);
        plan.ended(first);
        assertThat(next(1)).isNull();
        plan.stored(pending("a", "x"));
        QueuedWebhook second = taken(2);
        QueuedWebhook third = pending("a", "x");
        plan.stored(third);

        assertThat(next(1000)).isNull();
        assertThat(plan.isIdle("a", "x")).isFalse();
        plan.ended(second);
        assertThat(taken(1000)).isSameAs(third);
    }

    @Test
    void deletingWhatHoldsUpALineFreesIt() {
        QueuedWebhook first = pending("a", "x");
        QueuedWebhook second = pending("a", "x");
        plan.stored(first);
        plan.stored(second);
        taken(0);
        first.failures = 1;
        first.next = 5000;
        plan.retried(first, false);
        assertThat(next(1)).isNull();

        plan.deleted(new SourceKey("a", "x", true), first.seq);

        assertThat(taken(1)).isSameAs(second);
    }

    @Test
    void aClockThatStepsBackHoldsUpNothing() {
        QueuedWebhook stored = pending("a", "x");
        stored.next = 10_000;
        plan.stored(stored);

        assertThat(taken(0)).isSameAs(stored);
    }

    @Test
    void aBusySourceWithoutOrderIsLookedAtWhenOneEnds() {
        for (int i = 0; i <= SourceQueue.UNORDERED; i++) {
            wide.stored(new QueuedWebhook(i, "id" + i, "a", "x", false, 0));
        }
        for (int i = 0; i < SourceQueue.UNORDERED; i++) {
            assertThat(wide.next(0, runtime -> true)).isNotNull();
        }

        assertThat(wide.next(0, runtime -> true)).isNull();
        assertThat(wide.nextAt()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void whatASourceRefusesForAWeekIsGivenUp() {
        long day = 86_400_000;
        plan.stored(pending("a", "x"));
        QueuedWebhook first = taken(0);
        plan.refused(first, 0);

        assertThat(plan.isGivenUp(first, 7 * day - 1)).isFalse();
        assertThat(plan.isGivenUp(first, 7 * day)).isTrue();
        assertThat(taken(7 * day)).isSameAs(first);
        plan.away(first);
        plan.reachable("a");
        assertThat(taken(8 * day)).isSameAs(first);
        assertThat(plan.isGivenUp(first, 8 * day)).as("after an outage").isFalse();
        plan.refused(first, 8 * day);
        assertThat(plan.isGivenUp(first, 9 * day)).isTrue();
    }

    private String takenOfWide() {
        return Objects.requireNonNull(wide.next(0, any -> true), "nothing is to be sent").runtime;
    }

    private QueuedWebhook taken(long now) {
        return Objects.requireNonNull(next(now), "nothing is to be sent");
    }

    private @Nullable QueuedWebhook next(long now) {
        return plan.next(now, runtime -> true);
    }

    private QueuedWebhook pending(String runtime, String source) {
        return pendingOf(++seq, runtime, source);
    }

    private static QueuedWebhook pendingOf(long seq, String runtime, String source) {
        return new QueuedWebhook(seq, "id" + seq, runtime, source, true, 0);
    }
}
