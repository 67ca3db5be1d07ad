package dev.culvert.platform.runtimes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.testing.MovableClock;
import org.junit.jupiter.api.Test;

class ReportPaceTest {
    private final MovableClock clock = new MovableClock();
    private final ReportPace pace = new ReportPace(clock);

    @Test
    void aBurstIsFollowedByOneEachInterval() {
        for (int i = 0; i < ReportPace.BURST; i++) {
            assertThat(pace.take("acme", "prod")).isNull();
        }
        assertThat(pace.take("acme", "prod")).isEqualTo(ReportPace.INTERVAL);
        assertThat(pace.take("acme", "test")).isNull();

        clock.advance(ReportPace.INTERVAL);

        assertThat(pace.take("acme", "prod")).isNull();
        assertThat(pace.take("acme", "prod")).isEqualTo(ReportPace.INTERVAL);
    }

    @Test
    void theRuntimesThatReportedLastAreRemembered() {
        for (int i = 0; i < ReportPace.BURST; i++) {
            pace.take("acme", "first");
            pace.take("acme", "busy");
        }
        for (int i = 0; i < ReportPace.MAX_RUNTIMES - 1; i++) {
            pace.take("acme", "r" + i);
            assertThat(pace.take("acme", "busy")).isNotNull();
        }

        assertThat(pace.take("acme", "first")).isNull();
    }
}
