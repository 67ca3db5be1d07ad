package dev.culvert.http.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LinePaceTest {
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1);
    private final LinePace pace = new LinePace(Duration.ofSeconds(1), clock::get);

    @Test
    void oneLineAnIntervalTellsOfAllEvents() {
        assertThat(pace.add()).isOne();
        assertThat(pace.add()).isZero();
        assertThat(pace.add()).isZero();

        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(pace.add()).isEqualTo(3);
        assertThat(pace.add()).isZero();
    }
}
