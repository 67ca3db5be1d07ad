package dev.culvert.inbox.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RetryScheduleTest {
    @Test
    void attemptsStandWhereTheContractPutsThem() {
        List<Duration> times = new ArrayList<>(List.of(Duration.ZERO));
        long now = 0;
        for (int failures = 1; now >= 0; failures++) {
            now = RetrySchedule.next(failures, now, now, null);
            if (now >= 0) {
                times.add(Duration.ofMillis(now));
            }
        }

        assertThat(times).startsWith(Duration.ZERO, Duration.ofSeconds(5), Duration.ofSeconds(30),
                Duration.ofMinutes(2), Duration.ofMinutes(10), Duration.ofMinutes(30), Duration.ofHours(2),
                Duration.ofHours(5), Duration.ofHours(15), Duration.ofHours(25));
        assertThat(times).hasSize(RetrySchedule.attempts()).endsWith(Duration.ofHours(165));
    }

    @Test
    void anAttemptThatTookLongIsNotFollowedAtOnce() {
        assertThat(RetrySchedule.next(1, 0, 15_000, null)).isEqualTo(16_000);
    }

    @Test
    void anEventSourceMayAskForAnHourAtMost() {
        assertThat(RetrySchedule.next(1, 0, 0, Duration.ofMinutes(5))).isEqualTo(300_000);
        assertThat(RetrySchedule.next(1, 0, 0, Duration.ofDays(5))).isEqualTo(3_600_000);
        assertThat(RetrySchedule.next(8, 0, 0, Duration.ofSeconds(1))).isEqualTo(36_000_000);
    }
}
