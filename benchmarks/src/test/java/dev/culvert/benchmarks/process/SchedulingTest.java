package dev.culvert.benchmarks.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SchedulingTest {
    @TempDir
    Path dir;

    @Test
    void batchIsACommandBeforeTheOther() {
        assertThat(Scheduling.BATCH.apply(List.of("nginx", "-v")))
                .containsExactly("chrt", "--batch", "0", "nginx", "-v");
        assertThat(Scheduling.NORMAL.apply(List.of("nginx", "-v"))).containsExactly("nginx", "-v");
    }

    @Test
    void theThreadsOfAProgramHaveThePolicy() {
        assumeTrue(Program.find("chrt") != null, "chrt is not on the PATH");
        List<String> command = List.of("sh", "-c", "echo up; tail -f /dev/null & wait");
        try (Program program = Program.start(dir.resolve("log"), Scheduling.BATCH.apply(command))) {
            program.await("up");
            List<Long> pids = List.of(program.pid());

            assertThatCode(() -> Scheduling.BATCH.require("sh", pids)).doesNotThrowAnyException();
            assertThatThrownBy(() -> Scheduling.NORMAL.require("sh", pids)).isInstanceOf(BenchException.class)
                    .hasMessageContaining("has the scheduling policy 3 (expected: 0, SCHED_OTHER)");
        }
    }

    @Test
    void aProcessThatEndedHasNoPolicy() {
        assertThatThrownBy(() -> Scheduling.NORMAL.require("nginx2", List.of(Long.MAX_VALUE)))
                .isInstanceOf(BenchException.class)
                .hasMessageStartingWith("nginx2: process ");
    }
}
