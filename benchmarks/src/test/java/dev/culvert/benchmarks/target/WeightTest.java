package dev.culvert.benchmarks.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.benchmarks.process.Scheduling;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class WeightTest {
    /** Programs that end in seconds are not optimised: that takes more time than it saves. */
    private static final Launch SHORT_LIVED = new Launch(Launch.OWN.classPath(),
            command -> List.of("-XX:TieredStopAtLevel=1"));

    @Test
    void aStartIsMeasured() throws Exception {
        Weight weight;
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            weight = Weight.measure(bed, SHORT_LIVED, 1, 2, Duration.ofMillis(100),
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
