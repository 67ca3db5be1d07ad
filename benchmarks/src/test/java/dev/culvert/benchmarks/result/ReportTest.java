package dev.culvert.benchmarks.result;

import static dev.culvert.benchmarks.result.Samples.cell;
import static dev.culvert.benchmarks.result.Samples.comparison;
import static dev.culvert.benchmarks.result.Samples.group;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.DoubleStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final Offset<Double> EXACT = within(1e-9);

    @Test
    void theMedianOfAnEvenNumberIsBetweenTheMiddleTwo() {
        assertThat(Spread.of(DoubleStream.of(9, 1, 4))).isEqualTo(new Spread(4, 1, 9, 3));
        assertThat(Spread.of(DoubleStream.of(9, 1, 4, 6))).isEqualTo(new Spread(5, 1, 9, 4));
        assertThat(Spread.of(DoubleStream.empty())).isNull();
    }

    @Test
    void ratiosAreOfPairsOfTheSameStartAndRound() {
        LoadGroup group = group(cell("nginx2", 1, 1, 1000, 40), cell("culvert", 1, 1, 1100, 40),
                cell("nginx2", 1, 2, 2000, 40), cell("culvert", 1, 2, 1800, 40),
                cell("nginx2", 2, 1, 4000, 40), cell("culvert", 2, 1, 8000, 40));

        Spread ratios = ratios(group, "culvert", Figure.REQUESTS_PER_SECOND);

        assertThat(ratios.median()).isCloseTo(1.1, EXACT);
        assertThat(ratios.min()).isCloseTo(0.9, EXACT);
        assertThat(ratios.max()).isCloseTo(2, EXACT);
        assertThat(ratios.count()).isEqualTo(3);
        assertThat(target(group, "nginx2").ratios(Figure.REQUESTS_PER_SECOND)).isNull();
    }

    @Test
    void aCellWithoutAPartnerHasNoRatio() {
        LoadGroup group = group(cell("nginx2", 1, 1, 1000, 40), cell("culvert", 1, 1, 1500, 40),
                cell("culvert", 1, 2, 9000, 40));

        assertThat(ratios(group, "culvert", Figure.REQUESTS_PER_SECOND))
                .isEqualTo(new Spread(1.5, 1.5, 1.5, 1));
        assertThat(group.notes())
                .containsExactly("culvert: 1 of 2 cells have no ratio, because nginx2 was not"
                        + " measured in the same start and round.");
    }

    @Test
    void roundsOfDifferentFilesAreNoPairs() {
        List<ResultFile> files = List.of(
                new ResultFile("a.json", Samples.result(cell("nginx2", 1, 1, 1000, 40),
                        cell("culvert", 1, 1, 2000, 40))),
                new ResultFile("b.json", Samples.result(cell("nginx2", 1, 1, 100, 40),
                        cell("culvert", 1, 1, 300, 40))));

        LoadGroup group = Comparison.of(files, null).groups().getFirst();

        assertThat(ratios(group, "culvert", Figure.REQUESTS_PER_SECOND)).isEqualTo(new Spread(2.5, 2, 3, 2));
    }

    @Test
    void differentLoadsAreDifferentGroups() {
        Cell closed = cell("nginx2", 1, 1, 1000, 40);
        Cell open = new Cell("get", "nginx2", 32, 500, 1, 1, closed.load(), closed.usage());

        assertThat(comparison(closed, open).groups()).extracting(group -> group.load().label())
                .containsExactly("get, 32 callers", "get, 32 callers, 500 arrivals/s");
    }

    @Test
    void theStartSpreadIsBetweenMediansOfStarts() {
        LoadGroup group = group(cell("culvert", 1, 1, 1000, 40), cell("culvert", 1, 2, 3000, 40),
                cell("culvert", 1, 3, 2000, 40), cell("culvert", 2, 1, 5000, 40),
                cell("nginx2", 1, 1, 1000, 40));

        assertThat(target(group, "culvert").startSpread(Figure.REQUESTS_PER_SECOND)).hasValue(2.5);
        assertThat(target(group, "nginx2").startSpread(Figure.REQUESTS_PER_SECOND)).isEmpty();
    }

    @Test
    void eachFigureHasItsUnit() {
        LoadGroup group = group(cell("nginx2", 1, 1, 2048, 40));

        assertThat(median(group, Figure.REQUESTS_PER_SECOND)).isEqualTo(2048);
        assertThat(median(group, Figure.MIB_PER_SECOND)).isEqualTo(2);
        assertThat(median(group, Figure.CPU_PER_REQUEST)).isEqualTo(40);
        assertThat(median(group, Figure.CPU_PER_MIB)).isEqualTo(40960);
        assertThat(median(group, Figure.SWITCHES_PER_REQUEST)).isEqualTo(0.5);
        assertThat(median(group, Figure.RSS)).isEqualTo(100);
        assertThat(median(group, Figure.P50)).isCloseTo(1 + 2048 * 0.05, within(0.1));
        assertThat(median(group, Figure.ERRORS)).isZero();
    }

    @Test
    void aDivisionByZeroIsNoFigure() {
        Cell none = Samples.failed(cell("nginx2", 1, 1, 1, 1), "timeout", 7);
        Cell noTime = new Cell("get", "culvert", 32, 0, 1, 1,
                new LoadFigures(0, Map.of(), 0, 0, none.load().latency()), none.usage());

        for (Comparison comparison : List.of(comparison(none, cell("culvert", 1, 1, 1000, 40)),
                comparison(cell("nginx2", 1, 1, 1000, 40), noTime))) {
            assertThat(MarkdownReport.of(comparison)).doesNotContain("NaN", "Infinity", "null").contains("–");
            assertThat(HtmlReport.of(comparison)).doesNotContain("NaN", "Infinity", "null");
        }
    }

    @Test
    void aVerdictNeedsThreePairsThatAgree() {
        assertThat(Figure.REQUESTS_PER_SECOND.verdict(new Spread(1.2, 1.1, 1.3, 3)))
                .isEqualTo(Figure.Verdict.BETTER);
        assertThat(Figure.P99.verdict(new Spread(1.2, 1.1, 1.3, 3))).isEqualTo(Figure.Verdict.WORSE);
        assertThat(Figure.P99.verdict(new Spread(0.8, 0.7, 0.9, 3))).isEqualTo(Figure.Verdict.BETTER);
        assertThat(Figure.P99.verdict(new Spread(0.8, 0.7, 0.9, 2))).isEqualTo(Figure.Verdict.UNCLEAR);
        assertThat(Figure.P99.verdict(new Spread(0.8, 0.7, 1.0, 9))).isEqualTo(Figure.Verdict.UNCLEAR);
    }

    @Test
    void theTablesFollowWarningsAndMachine() {
        String report = MarkdownReport.of(comparison(cell("nginx2", 1, 1, 1000, 40),
                cell("culvert", 1, 1, 1500, 30), cell("nginx2", 1, 2, 1000, 40),
                cell("culvert", 1, 2, 1300, 34)));

        assertThat(report).startsWith("**Warning**: the machine was busy")
                .contains("a.json, taken 2026-11-22T12:00:00Z · cores 2")
                .contains("## get, 32 callers\n\n| target | requests/s | MiB/s | p50 ms |")
                .contains("| nginx2 | 1000 | ")
                .contains("| culvert | 1400 (1.40, 1.30–1.50) | ")
                .contains(" | 32.0 (0.80, 0.75–0.85) | ")
                .doesNotContain("largest start");
    }

    @Test
    void namesCannotBreakATable() {
        assertThat(MarkdownReport.escape("a|b\nc\\<i>")).isEqualTo("a\\|b c\\\\\\<i\\>");
    }

    @Test
    void errorsAreListedByReason() {
        LoadGroup group = group(cell("nginx2", 1, 1, 1000, 40),
                Samples.failed(cell("culvert", 1, 1, 1, 1), "timeout", 5),
                Samples.failed(cell("culvert", 1, 2, 1, 1), "reset", 2));

        assertThat(Figure.ERRORS.median(target(group, "culvert").values(Figure.ERRORS))).isEqualTo("3.5");
        assertThat(group.notes()).contains("culvert: 7 errors in all cells (reset 2, timeout 5).");
    }

    @Test
    void filesWithDifferentBaselinesNeedAChoice() {
        BenchResult result = Samples.result(cell("nginx2", 1, 1, 1000, 40), cell("direct", 1, 1, 3000, 0));
        List<ResultFile> files = List.of(new ResultFile("a.json", result),
                new ResultFile("b.json", new BenchResult(BenchResult.VERSION, "now", "direct", Map.of(),
                        List.of(), result.cells())));

        assertThatThrownBy(() -> Comparison.of(files, null)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "a.json has the baseline nginx2 and b.json has direct; choose one with --baseline");
        LoadGroup group = Comparison.of(files, "direct").groups().getFirst();
        assertThat(ratios(group, "nginx2", Figure.REQUESTS_PER_SECOND).count()).isEqualTo(2);
        assertThat(target(group, "nginx2").ratios(Figure.CPU_PER_REQUEST)).isNull();
    }

    @Test
    void twoCellsOfOneRoundAreRefused() {
        assertThatThrownBy(() -> group(cell("nginx2", 1, 1, 1000, 40), cell("nginx2", 1, 1, 1001, 40)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a.json: two cells of nginx2 for get, 32 callers, start 1, round 1"
                        + " (expected: one)");
    }

    @Test
    void numbersKeepThreeDigits() {
        assertThat(List.of(12345.6, 123.4, 12.34, 1.234, 0.1234, 0.0)).extracting(Numbers::value)
                .containsExactly("12346", "123", "12.3", "1.23", "0.123", "0");
        assertThat(List.of(1.234, 0.0456, 0.0)).extracting(ratio -> Numbers.ratio(ratio))
                .containsExactly("1.23", "0.046", "0.00");
        assertThat(List.of(500.0, 2e3, 2.5e6, 1e9)).extracting(Numbers::duration)
                .containsExactly("500 ns", "2 µs", "2.5 ms", "1 s");
        assertThat(List.of(0.1 + 0.2, 20000.0, 123456.0)).extracting(Numbers::trimmed)
                .containsExactly("0.3", "20000", "123456");
    }

    @Test
    void anAxisHasTicksForItsRange() {
        assertThat(new LogAxis(0.79, 1.31, 0, 100).ticks()).extracting(Numbers::trimmed)
                .containsExactly("0.8", "1", "1.2");
        assertThat(LogAxis.rounded(70, 3000, 0, 100)).isEqualTo(new LogAxis(50, 5000, 0, 100));
        assertThat(LogAxis.rounded(70, 3000, 0, 100).ticks()).extracting(Numbers::trimmed)
                .containsExactly("50", "100", "200", "500", "1000", "2000", "5000");
        assertThat(new LogAxis(1, 100, 0, 200).at(10)).isCloseTo(100, EXACT);
        assertThat(LogAxis.rounded(1000, 1000, 0, 100).max()).isGreaterThan(1000);
    }

    private static TargetRuns target(LoadGroup group, String name) {
        return group.targets()
                .stream()
                .filter(target -> target.target().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Spread ratios(LoadGroup group, String target, Figure figure) {
        return Objects.requireNonNull(target(group, target).ratios(figure));
    }

    private static double median(LoadGroup group, Figure figure) {
        return Objects.requireNonNull(group.targets().getFirst().values(figure)).median();
    }
}
