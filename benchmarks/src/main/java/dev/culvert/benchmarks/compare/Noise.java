package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.target.TargetKinds;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Signs that other work or failures have spoilt a measurement, as warnings for people. */
public final class Noise {
    /** The largest ratio of requests a second between two rounds that a quiet machine shows. */
    private static final double MAX_SPREAD = 1.3;

    private Noise() {}

    /**
     * A warning for a load average above half the processors, before the harness makes a load itself.
     *
     * @param average of the last minute
     */
    public static List<String> before(double average, int processors) {
        double most = processors / 2.0;
        return average <= most
                ? List.of()
                : List.of(String.format(Locale.ROOT,
                        "load average %.2f before the start (expected: at most %.2f, half the processors):"
                                + " other work ran on this machine",
                        average, most));
    }

    /**
     * A warning for each load under which the upstream alone, or the baseline, had rounds of very different
     * speed: only the machine changes theirs.
     */
    public static List<String> among(List<Cell> cells, String baseline) {
        Map<String, List<Cell>> groups = cells.stream()
                .filter(cell -> cell.target().equals(baseline)
                        || cell.target().equals(TargetKinds.DIRECT.name()))
                .collect(Collectors.groupingBy(cell -> "start " + cell.start() + ": " + label(cell),
                        LinkedHashMap::new, Collectors.toList()));
        List<String> warnings = new ArrayList<>();
        groups.forEach((label, rounds) -> {
            DoubleSummaryStatistics speed = rounds.stream()
                    .mapToDouble(cell -> cell.load().perSecond())
                    .summaryStatistics();
            double spread = speed.getMax() / speed.getMin();
            if (spread > MAX_SPREAD) {
                warnings.add(String.format(Locale.ROOT,
                        "%s: the fastest round had %.2f times the requests/s of the slowest (expected: at most %.1f)",
                        label, spread, MAX_SPREAD));
            }
        });
        return warnings;
    }

    /** A warning for each target and load with exchanges that failed, and their reasons. */
    public static List<String> failures(List<Cell> cells) {
        Map<String, Map<String, Long>> errors = new LinkedHashMap<>();
        for (Cell cell : cells) {
            cell.load().errors().forEach((reason, count) -> {
                if (count > 0) {
                    errors.computeIfAbsent(label(cell), label -> new LinkedHashMap<>())
                            .merge(reason, count, Long::sum);
                }
            });
        }
        return errors.entrySet()
                .stream()
                .map(entry -> entry.getKey() + ": exchanges failed: " + entry.getValue())
                .toList();
    }

    private static String label(Cell cell) {
        return cell.target() + ", " + cell.scenario() + ", " + cell.callers() + " callers";
    }
}
