package dev.culvert.client.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.client.dial.DialFailure;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HandoverTest {
    private final DialFailure absent = DialFailure.absent("refused");

    private final Handover one = new Handover(new SplittableRandom(1), 1);
    private long now = Long.MAX_VALUE - 1; // such clocks wrap

    /** How many dials a connection makes until its window is over, each of which finds nobody. */
    private int dials(Handover handover) {
        handover.begin(Duration.ZERO, now);
        int dials = 1;
        for (Duration wait = handover.afterFailure(absent, now); wait != null; wait = handover
                .afterFailure(absent, now)) {
            now += wait.toNanos();
            dials++;
        }
        return dials;
    }

    @Test
    void aSuccessorThatIsNotThereYetIsDialledWithinASecond() {
        one.begin(Duration.ZERO, now);

        for (long end = now + Handover.WINDOW.toNanos(); now - end < 0;) {
            Duration wait = Objects.requireNonNull(one.afterFailure(absent, now));
            assertThat(wait).isBetween(Handover.SHORTEST, Handover.LONGEST);
            now += wait.toNanos();
        }
        assertThat(one.afterFailure(absent, now)).as("after the window").isNull();
    }

    @Test
    void noAddressIsDialledMoreThanTwiceASecond() {
        int most = 1 + Handover.MAX_ROUNDS_PER_SECOND * Math.toIntExact(Handover.WINDOW.toSeconds());

        for (int seed = 0; seed < 100; seed++) {
            assertThat(dials(new Handover(new SplittableRandom(seed), 1))).isLessThan(most);
            assertThat(dials(new Handover(new SplittableRandom(seed), 3))).isLessThan(3 * most);
        }
    }

    @Test
    void clientsThatDialledTogetherDoNotDialTogetherAgain() {
        var random = new SplittableRandom(1);

        assertThat(Stream.generate(() -> {
            var client = new Handover(random, 1);
            client.begin(Duration.ZERO, now);
            return client.afterFailure(absent, now);
        }).limit(1000).distinct().count()).isGreaterThan(350); // of 501 milliseconds
    }

    @Test
    void theOtherAddressesAreDialledAtOnce() {
        var three = new Handover(new SplittableRandom(1), 3);
        three.begin(Duration.ZERO, now);

        for (int round = 0; round < 2; round++) {
            assertThat(three.afterFailure(absent, now)).isZero();
            assertThat(three.afterFailure(absent, now)).isZero();
            assertThat(three.afterFailure(absent, now)).isGreaterThanOrEqualTo(Handover.SHORTEST);
        }
    }

    @Test
    void aServerThatIsThereIsTheBackoffs() {
        one.begin(Duration.ZERO, now);

        assertThat(one.afterFailure(DialFailure.unreachable("timed out"), now)).isNull();
        assertThat(one.afterFailure(DialFailure.refused("revoked"), now)).isNull();
        assertThat(one.afterFailure(DialFailure.overloaded("busy", Duration.ofSeconds(5)), now)).isNull();
        assertThat(one.afterFailure(new IllegalStateException(), now)).isNull();
        assertThat(one.afterFailure(absent, now)).as("still open").isNotNull();
    }

    @Test
    void withoutAGoAwayOrAfterTheSuccessorWasFoundItIsTheBackoffs() {
        assertThat(one.afterFailure(absent, now)).isNull();

        one.begin(Duration.ZERO, now);
        one.end();

        assertThat(one.afterFailure(absent, now)).isNull();
    }

    @Test
    void theWindowBeginsWhenTheServerWantsTheNextDial() {
        one.begin(Duration.ofSeconds(5), now);
        now += Handover.WINDOW.plusSeconds(4).toNanos();

        assertThat(one.afterFailure(absent, now)).isNotNull();
    }
}
