package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DirectMemoryLimitTest {
    @ParameterizedTest
    @CsvSource({"64, 60", "16, 14", "1024, 960", "4096, 4032", "2, 1"})
    void nettysLimitIsBelowTheJvms(long jvmMebibytes, long nettyMebibytes) {
        assertThat(DirectMemoryLimit.below(jvmMebibytes << 20)).isEqualTo(nettyMebibytes << 20);
    }

    @Test
    void theJvmsLimitIsFound() {
        assertThat(DirectMemoryLimit.ofJvm()).isBetween(1L << 20, Runtime.getRuntime().maxMemory());
    }
}
