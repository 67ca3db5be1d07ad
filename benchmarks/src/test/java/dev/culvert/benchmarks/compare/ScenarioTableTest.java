package dev.culvert.benchmarks.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.benchmarks.result.BenchResult;
import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.result.Usage;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ScenarioTableTest {
    @Test
    void ratiosArePairedByRound() {
        List<Cell> cells = List.of(Figures.cell("nginx2", 1, 1000, 40), Figures.cell("culvert", 1, 1100, 30),
                Figures.cell("culvert", 2, 450, 90), Figures.cell("nginx2", 2, 500, 80),
                Figures.cell("nginx2", 3, 1000, 40), Figures.cell("culvert", 3, 1200, 40));

        String table = ScenarioTable.of(result("nginx2", cells));

        assertThat(table).startsWith("| small, c=32 | requests/s |")
                .contains("| nginx2 | 1000 | 0.98 | 2.00 | 4.00 | 60.00 | 40.00 | 64.00 | 1.00 (1.00–1.00) |")
                .contains("| culvert | 1100 | 1.07 | 2.00 | 4.00 | 60.00 | 40.00 | 64.00 | 1.10 (0.90–1.20)"
                        + " | 1.00 (0.75–1.13) |");
    }

    @Test
    void withoutTheBaselineThereAreNoRatios() {
        String table = ScenarioTable.of(result("nginx2", List.of(Figures.cell("culvert", 1, 1000, 40))));
        String silent = ScenarioTable.of(result("nginx2",
                List.of(Figures.cell("culvert", 1, 1000, 40), Figures.cell("nginx2", 1, 0, 40))));

        assertThat(table).contains("| culvert | 1000 |").contains("| – | – |");
        assertThat(silent).contains("| culvert | 1000 |").contains("| – | – |");
    }

    @Test
    void aRoundWithAFailureHasNoRatio() {
        List<Cell> cells = List.of(Figures.cell("nginx2", 1, 1000, 40), failing(1),
                Figures.cell("nginx2", 2, 1000, 40), Figures.cell("culvert", 2, 1200, 40));

        assertThat(ScenarioTable.of(result("nginx2", cells))).contains("| 1.20 (1.20–1.20) |");
    }

    @Test
    void aLoadedMachineIsToldBeforeTheStart() {
        assertThat(Noise.before(1.0, 2)).isEmpty();
        assertThat(Noise.before(1.01, 2)).singleElement()
                .asString()
                .startsWith("load average 1.01 before the start (expected: at most 1.00");
    }

    @Test
    void aSpreadOfTheSteadyTargetsIsAWarning() {
        List<Cell> cells = List.of(Figures.cell("nginx2", 1, 1000, 40), Figures.cell("nginx2", 2, 1310, 40),
                Figures.cell("direct", 1, 1000, 40), Figures.cell("direct", 2, 1290, 40),
                Figures.cell("culvert", 1, 1000, 40), Figures.cell("culvert", 2, 2000, 40));

        assertThat(Noise.among(cells, "nginx2")).singleElement()
                .asString()
                .startsWith("start 1: nginx2, small, 32 callers: the fastest round had 1.31 times");
        assertThat(Noise.among(cells, "direct")).isEmpty();
    }

    @Test
    void failedExchangesAreSummedUp() {
        Cell one = failing(3);

        assertThat(Noise.failures(List.of(one, failing(4), failing(0))))
                .containsExactly("culvert, small, 32 callers: exchanges failed: {503=7}");
    }

    private static Cell failing(long count) {
        return new Cell("small", "culvert", 32, 0, 1, 1, Figures.of(10, Map.of("503", count)),
                new Usage(0, 0, 0, 0, 0));
    }

    private static BenchResult result(String baseline, List<Cell> cells) {
        return new BenchResult(BenchResult.VERSION, "2026-11-23T00:00:00Z", baseline, Map.of(), List.of(),
                cells);
    }
}
