package dev.culvert.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The result for one number of connections, as a Markdown table: medians, and ratios to the nginx hops. */
final class CompareTable {
    private static final String BASELINE = "nginx, two hops";

    private CompareTable() {}

    static String of(int connections, Map<String, List<Measurement>> runs) {
        StringBuilder table = new StringBuilder(512);
        table.append(String.format(Locale.ROOT,
                "| c=%d | requests/s | p50 ms | p99 ms | CPU µs/request | without JIT |%n",
                connections));
        table.append("|---|---|---|---|---|---|\n");
        List<Measurement> baseline = runs.getOrDefault(BASELINE, List.of());
        runs.forEach((name, measured) -> table.append("| ")
                .append(name)
                .append(cell(measured, baseline, run -> run.load().perSecond(), "%.0f"))
                .append(cell(measured, baseline, run -> run.load().p50Millis(), "%.2f"))
                .append(cell(measured, baseline, run -> run.load().p99Millis(), "%.2f"))
                .append(cell(measured, baseline, Measurement::cpuMicros, "%.1f"))
                .append(cell(measured, baseline, Measurement::cpuMicrosWithoutJit, "%.1f"))
                .append(" |\n"));
        return table.toString().stripTrailing();
    }

    private static String cell(List<Measurement> runs, List<Measurement> baseline,
            ToDoubleFunction<Measurement> figure,
            String format) {
        double value = Measurement.median(runs, figure);
        double base = Measurement.median(baseline, figure);
        return String.format(Locale.ROOT, " | " + format + " (%.2f)", value, value / base);
    }
}
