package dev.culvert.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class FormatTest {
    @Test
    void bytesHaveTheirUnit() {
        assertThat(Format.bytes(0)).isEqualTo("0 B");
        assertThat(Format.bytes(1023)).isEqualTo("1023 B");
        assertThat(Format.bytes(1536)).isEqualTo("1.5 KiB");
        assertThat(Format.bytes(20L << 20)).isEqualTo("20 MiB");
    }

    @Test
    void timesHaveTheirUnit() {
        assertThat(Format.seconds(0.000_34)).isEqualTo("340 µs");
        assertThat(Format.seconds(0.0034)).isEqualTo("3.4 ms");
        assertThat(Format.seconds(12.4)).isEqualTo("12 s");
        assertThat(Format.seconds(Double.NaN)).isEqualTo("–");
        assertThat(Format.duration(Duration.ofSeconds(3725))).isEqualTo("1 h 2 min");
        assertThat(Format.duration(Duration.ofDays(2))).isEqualTo("2 d");
    }

    @Test
    void relativeTimesSayTheDirection() {
        Instant now = Instant.parse("2026-01-01T00:00:00Z");

        assertThat(Format.relative(now.minusSeconds(90), now)).isEqualTo("1 min ago");
        assertThat(Format.relative(now.plusSeconds(7200), now)).isEqualTo("in 2 h");
        assertThat(Format.relative(now, now)).isEqualTo("now");
        assertThat(Format.relative(null, now)).isEqualTo("–");
    }

    @Test
    void countsArePlural() {
        assertThat(Format.plural(1, "runtime", "runtimes")).isEqualTo("1 runtime");
        assertThat(Format.plural(12_345, "runtime", "runtimes")).isEqualTo("12\u202f345 runtimes");
    }
}
