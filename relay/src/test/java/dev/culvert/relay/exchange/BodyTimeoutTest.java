package dev.culvert.relay.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BodyTimeoutTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int RATE = 240;

    private final BodyTimeout timeout = new BodyTimeout(Duration.ofSeconds(60), 0);

    private void comes(int bytes, long rate, long atSecond) {
        timeout.came(bytes, rate, atSecond * SECOND);
        timeout.turn(atSecond * SECOND);
    }

    private long left(long atSecond) {
        return timeout.left(atSecond * SECOND) / SECOND;
    }

    @Test
    void aSilentCallerHasAsLongAsSilenceMayLast() {
        assertThat(left(59)).isEqualTo(1);
        assertThat(left(60)).isZero();
    }

    @Test
    void aCallerThatDripsEarnsNoMoreThanItSends() {
        for (int second = 10; second < 60; second += 10) {
            comes(24, RATE, second);
        }

        assertThat(left(50)).isEqualTo(10);
        assertThat(left(61)).isZero();
    }

    @Test
    void aCallerThatKeepsTheRateGoesOnForEver() {
        for (int second = 1; second < 3600; second++) {
            comes(RATE, RATE, second);
            assertThat(left(second)).isGreaterThanOrEqualTo(59);
        }
    }

    @Test
    void nobodyEarnsMoreThanAllOfIt() {
        comes(1 << 20, RATE, 30);

        assertThat(left(30)).isEqualTo(60);
    }

    @Test
    void theUpstreamsTimeIsNotTheCallers() {
        timeout.came(1, RATE, 10 * SECOND);
        assertThat(left(1000)).isEqualTo(50);
        timeout.turn(1000 * SECOND);

        assertThat(left(1049)).isEqualTo(1);
    }

    @Test
    void withoutARateEachByteRestoresAllOfIt() {
        comes(1, 0, 59);

        assertThat(left(118)).isEqualTo(1);
    }
}
