package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.result.BenchResult;
import dev.culvert.benchmarks.result.Cell;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * The cells of a result as Markdown tables, one for each load and number of callers: medians over all rounds,
 * and ratios to the baseline in the same round, as the median with its range.
 */
public final class ScenarioTable {
    private static final double MICROS_PER_MILLI = 1000;
    private static final double MIB = 1 << 20;
    /** From here on decimals say nothing. */
    private static final double LARGE = 100;

    private ScenarioTable() {}

    /** The tables, separated by empty lines, without a line end behind the last. */
    public static String of(BenchResult result) {
        return result.cells()
                .stream()
                .collect(Collectors.groupingBy(cell -> cell.scenario() + ", c=" + cell.callers(),
                        LinkedHashMap::new, Collectors.toList()))
                .entrySet()
                .stream()
                .map(group -> table(group.getKey(), group.getValue(), result.baseline()))
                .collect(Collectors.joining("\n\n"));
    }

    private static String table(String title, List<Cell> cells, String baseline) {
        StringBuilder table = new StringBuilder(1024);
        table.append("| ")
                .append(title)
                .append(" | requests/s | MiB/s | p50 ms | p99 ms | CPU µs/request | without JIT | RSS MiB"
                        + " | × requests/s | × CPU without JIT |\n|---|---|---|---|---|---|---|---|---|---|\n");
        Map<String, List<Cell>> targets = cells.stream()
                .collect(Collectors.groupingBy(Cell::target, LinkedHashMap::new, Collectors.toList()));
        List<Cell> base = targets.getOrDefault(baseline, List.of());
        targets.forEach((name, own) -> table.append("| ")
                .append(name)
                .append(number(own, cell -> cell.load().perSecond()))
                .append(number(own, cell -> cell.load().bytesPerSecond() / MIB))
                .append(number(own, cell -> cell.load().latency().p50() / MICROS_PER_MILLI))
                .append(number(own, cell -> cell.load().latency().p99() / MICROS_PER_MILLI))
                .append(number(own,
                        cell -> (double) cell.usage().cpuMicros() / Math.max(1, cell.load().requests())))
                .append(number(own, Cell::cpuPerRequest))
                .append(number(own, cell -> cell.usage().rssBytes() / MIB))
                .append(" | ")
                .append(PairedRatio.of(own, base, cell -> cell.load().perSecond()))
                .append(" | ")
                .append(PairedRatio.of(own, base, Cell::cpuPerRequest))
                .append(" |\n"));
        return table.toString().stripTrailing();
    }

    private static String number(List<Cell> cells, ToDoubleFunction<Cell> figure) {
        double value = PairedRatio.median(cells, figure);
        return String.format(Locale.ROOT, value >= LARGE ? " | %.0f" : " | %.2f", value);
    }
}
