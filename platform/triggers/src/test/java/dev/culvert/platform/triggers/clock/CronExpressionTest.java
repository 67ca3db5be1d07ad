package dev.culvert.platform.triggers.clock;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CronExpressionTest {
    private static List<String> times(String expression, String after, int count) {
        List<String> times = new ArrayList<>();
        Instant here = Instant.parse(after);
        CronExpression cron = CronExpression.parse(expression);
        for (int i = 0; i < count; i++) {
            Optional<Instant> next = cron.next(here);
            if (next.isEmpty()) {
                break;
            }
            here = next.get();
            times.add(here.toString());
        }
        return times;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "0 30 9 * * *           | 2026-11-28T00:00:00Z | 2026-11-28T09:30:00Z 2026-11-29T09:30:00Z",
            "30 9 * * *             | 2026-11-28T09:30:00Z | 2026-11-29T09:30:00Z",
            "@daily                 | 2026-11-28T00:00:00Z | 2026-11-29T00:00:00Z",
            "@hourly                | 2026-11-28T00:10:00Z | 2026-11-28T01:00:00Z",
            "@weekly                | 2026-11-28T00:00:00Z | 2026-11-29T00:00:00Z 2026-12-06T00:00:00Z",
            "@every 1h30m           | 2026-11-28T00:00:00Z | 2026-11-28T01:30:00Z 2026-11-28T03:00:00Z",
            "0 0 0 13 * 5           | 2026-11-01T00:00:00Z | 2026-11-06T00:00:00Z 2026-11-13T00:00:00Z 2026-11-20T00:00:00Z 2026-11-27T00:00:00Z 2026-12-04T00:00:00Z 2026-12-11T00:00:00Z 2026-12-13T00:00:00Z",
            "0 0 0 13 * *           | 2026-11-01T00:00:00Z | 2026-11-13T00:00:00Z 2026-12-13T00:00:00Z",
            "0 0 0 * * 5            | 2026-11-01T00:00:00Z | 2026-11-06T00:00:00Z 2026-11-13T00:00:00Z",
            "0 0 0 */2 * 5          | 2026-11-01T00:00:00Z | 2026-11-13T00:00:00Z 2026-11-27T00:00:00Z 2026-12-11T00:00:00Z",
            "0 0 0 13 * ?           | 2026-11-01T00:00:00Z | 2026-11-13T00:00:00Z 2026-12-13T00:00:00Z",
            "0 0 0 ? * 5            | 2026-11-01T00:00:00Z | 2026-11-06T00:00:00Z 2026-11-13T00:00:00Z",
            "0 0 12 * * 0           | 2026-11-28T00:00:00Z | 2026-11-29T12:00:00Z",
            "0 0 12 * * 7           | 2026-11-28T00:00:00Z | 2026-11-29T12:00:00Z",
            "0 0 12 * * SUN         | 2026-11-28T00:00:00Z | 2026-11-29T12:00:00Z",
            "0 0 12 * JAN MON-FRI   | 2026-11-28T00:00:00Z | 2027-01-01T12:00:00Z 2027-01-04T12:00:00Z",
            "0 */20 * * * *         | 2026-11-28T00:00:00Z | 2026-11-28T00:20:00Z 2026-11-28T00:40:00Z 2026-11-28T01:00:00Z",
            "0 0 0 29 2 *           | 2026-11-28T00:00:00Z | 2028-02-29T00:00:00Z",
            // Berlin, spring: 02:00 to 03:00 is left out on 29 March 2026.
            "TZ=Europe/Berlin 0 30 2 * * *   | 2026-03-28T00:00:00Z | 2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z",
            "TZ=Europe/Berlin 0 */30 * * * * | 2026-03-29T00:00:00Z | 2026-03-29T00:30:00Z 2026-03-29T01:00:00Z 2026-03-29T01:30:00Z 2026-03-29T02:00:00Z",
            // Berlin, autumn: 02:00 to 03:00 comes twice on 25 October 2026.
            "TZ=Europe/Berlin 0 30 2 * * *   | 2026-10-24T12:00:00Z | 2026-10-25T00:30:00Z 2026-10-26T01:30:00Z",
            "TZ=Europe/Berlin 0 */30 * * * * | 2026-10-25T00:00:00Z | 2026-10-25T00:30:00Z 2026-10-25T02:00:00Z 2026-10-25T02:30:00Z",
            "TZ=Europe/Berlin 0 0 3 * * *    | 2026-10-25T01:30:00Z | 2026-10-25T02:00:00Z",
            // Lord Howe: half an hour.
            "TZ=Australia/Lord_Howe 0 15 2 * * * | 2026-10-03T00:00:00Z | 2026-10-03T15:30:00Z 2026-10-04T15:15:00Z",
            "TZ=America/New_York 0 0 9 * * 1-5 | 2026-03-06T00:00:00Z | 2026-03-06T14:00:00Z 2026-03-09T13:00:00Z"})
    void itIsDueAt(String expression, String after, String expected) {
        List<String> times = List.of(expected.split(" ", -1));

        assertThat(times(expression, after, times.size())).isEqualTo(times);
    }
}
