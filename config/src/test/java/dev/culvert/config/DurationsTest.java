package dev.culvert.config;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({"500ms, PT0.5S", "10s, PT10S", "5m, PT5M", "2h, PT2H", "7d, PT168H", "0s, PT0S",
            "999999999d, PT23999999976H"})
    void readsANumberAndItsUnit(String text, Duration duration) {
        assertThat(parse(text)).isEqualTo(duration);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "d", "5 m", "-5m", "5M", "1.5h", "5w", "5mm", "1000000000s", "PT5M"})
    void otherTextsAreNoDurations(String text) {
        assertThat(parse(text)).isNull();
    }

    @Test
    void unitsBeyondTheLimitsAreRefused() {
        assertThat(Durations.parse("5ms", 6, ChronoUnit.SECONDS, ChronoUnit.DAYS)).isNull();
        assertThat(Durations.parse("5s", 6, ChronoUnit.SECONDS, ChronoUnit.DAYS)).hasSeconds(5);
        assertThat(Durations.parse("5m", 6, ChronoUnit.MILLIS, ChronoUnit.MINUTES)).hasMinutes(5);
        assertThat(Durations.parse("5h", 6, ChronoUnit.MILLIS, ChronoUnit.MINUTES)).isNull();
    }

    @Test
    void moreDigitsThanTheLimitAreRefused() {
        assertThat(Durations.parse("999999s", 6, ChronoUnit.SECONDS, ChronoUnit.DAYS)).hasSeconds(999_999);
        assertThat(Durations.parse("0000001s", 6, ChronoUnit.SECONDS, ChronoUnit.DAYS)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0s", "1ms", "1500ms", "90s", "5m", "36h", "7d"})
    void theFormattedTextIsTheShortest(String text) {
        assertThat(Durations.format(requireNonNull(parse(text)))).isEqualTo(text);
    }

    private static @Nullable Duration parse(String text) {
        return Durations.parse(text, Durations.MAX_DIGITS, ChronoUnit.MILLIS, ChronoUnit.DAYS);
    }
}
