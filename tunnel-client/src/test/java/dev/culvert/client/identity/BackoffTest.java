package dev.culvert.client.identity;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private static final Duration UNSTABLE = Duration.ofSeconds(24);
    private static final Duration STABLE = Duration.ofSeconds(25);
    private static final List<Integer> CEILINGS = List.of(200, 500, 1000, 2000, 4000, 8000, 15_000, 15_000,
            15_000);

    /** Draws the highest number asked for, or zero. */
    private record Extreme(boolean highest) implements RandomGenerator {
        @Override
        public long nextLong() {
            throw new IllegalStateException("only bounded numbers are drawn");
        }

        @Override
        public long nextLong(long bound) {
            return highest ? bound - 1 : 0;
        }
    }

    private static List<Integer> delays(Backoff backoff, int count) {
        return Stream.generate(() -> (int) backoff.afterLoss(Duration.ZERO).toMillis()).limit(count).toList();
    }

    @Test
    void theFirstTryIsWithin200MillisThenTheCeilingDoublesTo15Seconds() {
        assertThat(delays(new Backoff(new Extreme(true)), CEILINGS.size())).isEqualTo(CEILINGS);
    }

    @Test
    void anOverloadedServersWishIsAFloorAndBelievedUpToAMinute() {
        Duration most = Duration.ofDays(1);

        assertThat(new Backoff(new Extreme(false)).afterOverload(Duration.ofSeconds(7)))
                .isEqualTo(Duration.ofSeconds(7));
        assertThat(new Backoff(new Extreme(true)).afterOverload(Duration.ofSeconds(7)))
                .isEqualTo(Duration.ofSeconds(8));
        assertThat(new Backoff(new Extreme(true)).afterOverload(most)).isEqualTo(Duration.ofSeconds(61));
    }

    @Test
    void afterAnOverloadTheNextFailureIsNotTheFirst() {
        Backoff backoff = new Backoff(new Extreme(true));

        backoff.afterOverload(Duration.ofSeconds(1));

        assertThat(delays(backoff, 2)).containsExactly(500, 1000);
    }

    @Test
    void theJitterIsFull() {
        assertThat(delays(new Backoff(new Extreme(false)), 9)).containsOnly(0);
    }

    @Test
    void noDelayPassesItsCeilingHoweverOftenItFails() {
        Backoff backoff = new Backoff(new SplittableRandom(1));

        List<Integer> delays = delays(backoff, 10_000);

        assertThat(IntStream.range(0, delays.size()))
                .allMatch(i -> delays.get(i) <= CEILINGS.get(Math.min(i, CEILINGS.size() - 1)));
        assertThat(delays.stream().mapToInt(Integer::intValue).average().orElseThrow()).isBetween(7000.0,
                8000.0);
    }

    @Test
    void aSessionOf25SecondsStartsTheCountAnew() {
        Backoff backoff = new Backoff(new Extreme(true));
        delays(backoff, 6);

        assertThat(backoff.afterLoss(UNSTABLE)).hasMillis(200);
        assertThat(backoff.afterLoss(Duration.ZERO)).hasMillis(15_000);
        assertThat(backoff.afterLoss(STABLE)).hasMillis(200);
        assertThat(backoff.afterLoss(Duration.ZERO)).hasMillis(500);
    }

    @Test
    void aStableSessionThatWasSentAwayStartsTheCountAnew() {
        Backoff backoff = new Backoff(new Extreme(true));
        delays(backoff, 6);

        backoff.served(UNSTABLE);
        assertThat(backoff.afterLoss(Duration.ZERO)).hasMillis(15_000);
        backoff.served(STABLE);
        assertThat(delays(backoff, 2)).containsExactly(200, 500);
    }

    @Test
    void aSessionThatServedIsMissedAndOneThatDidNotIsNot() {
        Backoff backoff = new Backoff(new Extreme(true));
        delays(backoff, 3);

        assertThat(backoff.afterLoss(Duration.ofMillis(999))).hasMillis(2000);
        assertThat(backoff.afterLoss(Duration.ofSeconds(1))).hasMillis(200);
        assertThat(backoff.afterLoss(Duration.ZERO)).hasMillis(4000);
    }

    @Test
    void aRefusedIdentityWaitsAMinuteAndDoesNotCountAsALoss() {
        Backoff backoff = new Backoff(new Extreme(true));

        assertThat(new Backoff(new Extreme(false)).afterRefusal()).hasSeconds(60);
        assertThat(backoff.afterRefusal()).hasSeconds(66);
        assertThat(backoff.afterLoss(Duration.ZERO)).hasMillis(200);
    }

    @Test
    void aConflictWaitsItsTimeToTwiceThat() {
        Duration wait = Duration.ofSeconds(30);

        assertThat(new Backoff(new Extreme(false)).afterConflict(wait)).hasSeconds(30);
        assertThat(new Backoff(new Extreme(true)).afterConflict(wait)).hasSeconds(60);
    }
}
