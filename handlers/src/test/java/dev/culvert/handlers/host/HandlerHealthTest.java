package dev.culvert.handlers.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.host.HandlerHealth.Kind;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HandlerHealthTest {
    private final AtomicLong clock = new AtomicLong(-5);
    private final HandlerHealth health = new HandlerHealth(clock::get);

    @Test
    void aFewBadCallsAreNoTrouble() {
        count(Kind.FAILED, HandlerHealth.ENOUGH - 1);

        assertThat(health.trouble()).isNull();
    }

    @Test
    void badCallsAmongManyGoodOnesAreNoTrouble() {
        count(Kind.GOOD, 100);
        count(Kind.TIMED_OUT, 99);
        assertThat(health.trouble()).isNull();

        count(Kind.REJECTED, 1);

        assertThat(health.trouble())
                .isEqualTo("100 of 200 calls of the last minute: 0 failed, 99 timed out, 1 rejected");
    }

    @Test
    void aMinuteLaterItIsForgotten() {
        count(Kind.FAILED, HandlerHealth.ENOUGH);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(49));
        assertThat(health.trouble()).isNotNull();

        clock.addAndGet(TimeUnit.SECONDS.toNanos(11));

        assertThat(health.trouble()).isNull();
    }

    private void count(Kind kind, int times) {
        for (int i = 0; i < times; i++) {
            health.count(kind);
        }
    }
}
