package dev.culvert.http.quota;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KeyedPaceTest {
    private static final Duration INTERVAL = Duration.ofSeconds(6);
    private static final int BURST = 10;
    private static final int MAX_KEYS = 1_000;

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000); // wraps around soon
    private final KeyedPace<String> pace = new KeyedPace<>(BURST, INTERVAL, MAX_KEYS, nanos::get);

    @Test
    void aBurstIsFollowedByOneEachInterval() {
        for (int i = 0; i < BURST; i++) {
            assertThat(pace.early("a")).isNull();
            assertThat(pace.take("a")).isNull();
        }
        assertThat(pace.early("a")).isEqualTo(INTERVAL);
        assertThat(pace.take("a")).isEqualTo(INTERVAL);
        assertThat(pace.take("b")).isNull();

        nanos.addAndGet(INTERVAL.toNanos());

        assertThat(pace.early("a")).isNull();
        assertThat(pace.take("a")).isNull();
        assertThat(pace.take("a")).isEqualTo(INTERVAL);

        nanos.addAndGet(BURST * INTERVAL.toNanos() * 2);
        for (int i = 0; i < BURST; i++) {
            assertThat(pace.take("a")).isNull();
        }
        assertThat(pace.take("a")).isEqualTo(INTERVAL);
    }

    @Test
    void theKeysThatCameLastAreRemembered() {
        for (int i = 0; i < BURST; i++) {
            pace.take("first");
            pace.take("busy");
        }
        for (int i = 0; i < MAX_KEYS - 1; i++) {
            pace.take("k" + i);
            assertThat(pace.take("busy")).isNotNull();
        }

        assertThat(pace.take("first")).isNull();
    }
}
