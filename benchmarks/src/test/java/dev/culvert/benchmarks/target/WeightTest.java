package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.benchmarks.process.Scheduling;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WeightTest {
    @Test
    void aStartIsMeasured() throws Exception {
        Weight weight;
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            weight = Weight.measure(bed, Launch.OWN, 1, 2, Duration.ofMillis(100),
                    Duration.ofMillis(100));
        }

        assertThat(weight.serverStart()).isPositive();
        assertThat(weight.clientStart()).isPositive();
        assertThat(weight.clientBytes()).isGreaterThan(10 << 20);
        assertThat(weight.serverBytes()).isGreaterThan(10 << 20);
        assertThat(weight.cpu()).isNotNegative();
        assertThat(weight.requestMicros()).isNotNegative();
        assertThat(weight.requestMicrosAmong()).isNotNegative();
    }
}
