package dev.culvert.server.page.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.observe.TrafficSummary;
import dev.culvert.server.page.traffic.FailingRuntimes.Failing;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailingRuntimesTest {
    private static final Instant NOW = Instant.parse("2027-01-01T00:00:00Z");
    private final FailingRuntimes watch = new FailingRuntimes();

    private static TrafficSummary traffic(String runtime, long requests, long failures) {
        return new TrafficSummary(runtime, requests, requests / 300.0, 0, failures, failures, failures, null,
                0.01,
                0.02);
    }

    private List<Failing> look(long requests, long failures, int second) {
        return watch.look(List.of(traffic("acme/prod", requests, failures)), NOW.plusSeconds(second));
    }

    @ParameterizedTest
    @CsvSource({"60, 30, true", "10, 1, true", "9, 9, false", "100, 9, false", "1000, 100, true"})
    void aTenthOfTenRequestsMustFail(long requests, long failures, boolean fails) {
        assertThat(look(requests, failures, 0)).hasSize(fails ? 1 : 0);
    }

    @Test
    void itGoesOnUntilLessThanATwentiethFails() {
        assertThat(look(100, 12, 0)).hasSize(1);
        assertThat(look(100, 6, 5)).singleElement().matches(failing -> failing.since().equals(NOW));
        assertThat(look(8, 4, 10)).singleElement().matches(failing -> failing.since().equals(NOW));
        assertThat(look(100, 4, 15)).isEmpty();
        assertThat(look(100, 6, 20)).isEmpty();
        assertThat(look(100, 10, 25)).singleElement()
                .matches(failing -> failing.since().equals(NOW.plusSeconds(25)));
    }

    @Test
    void aRuntimeThatIsNotCalledAnyMoreDoesNotFail() {
        assertThat(look(100, 50, 0)).hasSize(1);

        assertThat(watch.look(List.of(), NOW.plusSeconds(5))).isEmpty();
        assertThat(look(5, 5, 10)).isEmpty();
    }

    @Test
    void theRuntimeWithTheMostFailuresIsTheFirst() {
        assertThat(watch.look(List.of(traffic("a/few", 20, 10), traffic("a/many", 200, 60)), NOW))
                .extracting(failing -> failing.traffic().runtime())
                .containsExactly("a/many", "a/few");
    }

    @ParameterizedTest
    @CsvSource({"0, 0.0/s", "0.01, < 0.1/s", "3.26, 3.3/s", "1234.4, 1\u202f234/s"})
    void ratesAreShort(double perSecond, String shown) {
        assertThat(TrafficLine.rate(perSecond)).isEqualTo(shown);
    }
}
