package dev.culvert.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What webhooks that always fail, and sources that fail for a while, do to those behind: with all retry delays, in virtual time. */
class PoisonTest {
    private static final long MINUTE = Duration.ofMinutes(1).toMillis();

    @Test
    void oneOfTenFailsAndTheOthersArriveInAMinute() {
        var source = new SourceSimulation((seq, now) -> seq % 10 == 0);
        source.store(1000);

        source.run(MINUTE);

        assertThat(source.delivered).hasSize(900);
        assertThat(source.inOrder()).isSorted();
        assertThat(source.outOfOrder).allMatch(seq -> seq % 10 == 0);
    }

    @Test
    void poisonedOnesSideBySideStopNothing() {
        Random random = new Random(7);
        Set<Long> poisoned = new HashSet<>();
        while (poisoned.size() < 100) {
            poisoned.add(1 + random.nextLong(1000));
        }
        LongStream.rangeClosed(500, 504).forEach(poisoned::add);
        var source = new SourceSimulation((seq, now) -> poisoned.contains(seq));
        source.store(1000);

        source.run(MINUTE);

        assertThat(source.delivered).hasSize(1000 - poisoned.size());
        assertThat(source.inOrder()).isSorted();
    }

    @Test
    void aPoisonedOneEachTenMinutesStopsNothing() {
        var source = new SourceSimulation((seq, now) -> seq % 10 == 1);
        for (int round = 0; round < 20; round++) {
            long last = source.store(10);
            source.run(source.now + 10 * MINUTE);

            assertThat(source.longestWait(last - 9, last)).isLessThan(10_000);
        }
        assertThat(source.delivered).hasSize(180);
    }

    @Test
    void aFailureThatPassesKeepsTheOrder() {
        var source = new SourceSimulation((seq, now) -> seq == 5 && now < 4000);
        source.store(100);

        source.run(MINUTE);

        assertThat(source.delivered.keySet()).hasSize(100);
        assertThat(List.copyOf(source.delivered.keySet())).isSorted();
        assertThat(source.outOfOrder).isEmpty();
    }

    @Test
    void aSourceThatWasDownGoesOnInOrder() {
        long up = 5 * MINUTE;
        var source = new SourceSimulation((seq, now) -> seq > 20 && now < up);
        source.store(500);

        source.run(up);
        assertThat(source.delivered).hasSize(20);
        assertThat(source.attempts).as("few ask while it is down").isLessThan(20 + 50);
        source.run(up + 2 * MINUTE);

        assertThat(source.delivered).hasSize(500);
        assertThat(source.inOrder()).isSorted();
        assertThat(source.outOfOrder).as("only what showed that it is back").hasSizeLessThan(2);
    }

    @Test
    void aSourceThatIsDownForHoursLosesLittleOrder() {
        long up = 120 * MINUTE;
        var source = new SourceSimulation((seq, now) -> now < up);
        source.store(500);

        source.run(up + 2 * MINUTE);

        assertThat(source.inOrder()).isSorted();
        assertThat(source.outOfOrder).as("failed five times, or showed that it is back").hasSizeLessThan(20);
        assertThat(source.delivered.size()).isGreaterThan(480);
        source.run(up + Duration.ofHours(5).toMillis());
        assertThat(source.delivered).hasSize(500);
    }

    @Test
    void poisonBehindAnOutageStopsNothing() {
        long up = 5 * MINUTE;
        var source = new SourceSimulation((seq, now) -> seq % 10 == 0 || now < up);
        source.store(500);

        source.run(up + 3 * MINUTE);

        assertThat(source.delivered).hasSize(450);
        assertThat(source.inOrder()).isSorted();
    }

    @Test
    void aFloodOfPoisonDelaysNoneForLong() {
        Set<Long> poisoned = new HashSet<>();
        var source = new SourceSimulation((seq, now) -> poisoned.contains(seq));

        List<Long> good = flood(source, poisoned, MINUTE, 2);

        assertThat(source.delivered.keySet()).containsAll(good);
        assertThat(source.longestWait(1, good.getLast())).isLessThan(8_000);
        long settled = good.get(good.size() / 3);
        assertThat(source.longestWait(settled, good.getLast())).as("once it is known").isLessThan(200);
        assertThat(source.inOrder()).isSorted();
    }

    @Test
    void poisonThatOutnumbersTheOthersDelaysNoneForLong() {
        Set<Long> poisoned = new HashSet<>();
        var source = new SourceSimulation((seq, now) -> poisoned.contains(seq));

        List<Long> good = flood(source, poisoned, 5 * MINUTE, 30);

        long settled = good.get(good.size() / 2);
        assertThat(source.longestWait(settled, good.getLast())).isLessThan(5_000);
        assertThat(source.delivered.keySet()).containsAll(good.subList(0, good.size() - 20));
        assertThat(source.inOrder()).isSorted();
    }

    @Test
    void whatFailedTakesABoundedPlaceInMemory() {
        var source = new SourceSimulation((seq, now) -> true);
        source.store(2000);

        source.run(600 * MINUTE);

        assertThat(source.attempts).isGreaterThan(300);
        assertThat(source.inLine()).isBetween(150L, 192L);
    }

    @Test
    void anOutageOfASourceWithPoisonKeepsTheOrder() {
        long down = 2 * MINUTE;
        long up = 4 * MINUTE;
        Set<Long> poisoned = new HashSet<>();
        var asked = new AtomicInteger();
        var source = new SourceSimulation((seq, now) -> {
            boolean isDown = now >= down && now < up;
            asked.addAndGet(isDown && !poisoned.contains(seq) ? 1 : 0);
            return isDown || poisoned.contains(seq);
        });
        flood(source, poisoned, down - 1000, 2);
        source.run(down);
        List<Long> good = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            good.add(source.store(1));
        }

        source.run(up);
        assertThat(source.outOfOrder).doesNotContainAnyElementsOf(good);
        source.run(up + 2 * MINUTE);

        assertThat(asked).as("few ask while it is down").hasValueLessThan(60);
        assertThat(source.delivered.keySet()).containsAll(good);
        assertThat(source.outOfOrder.stream().filter(good::contains))
                .as("only what showed that it is back")
                .hasSizeLessThan(2);
        assertThat(source.inOrder()).isSorted();
    }

    /** Each 300 ms a good webhook and some poison before it; returns the good ones. */
    private static List<Long> flood(SourceSimulation source, Set<Long> poisoned, long until, int each) {
        List<Long> good = new ArrayList<>();
        while (source.now < until) {
            for (int i = 0; i < each; i++) {
                long next = source.lastStored() + 1;
                poisoned.add(next);
                source.store(1);
            }
            good.add(source.store(1));
            source.run(source.now + Math.max(300, each * 50L));
        }
        return good;
    }
}
