package dev.culvert.benchmarks.result;

import static java.util.stream.Collectors.groupingBy;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * All cells of one target under one load.
 *
 * @param baseline whether ratios are to this target
 * @param cells one or more, in the order in which they were measured
 */
record TargetRuns(String target, boolean baseline, List<PairedCell> cells) {
    /** Resolves 0.1 % of a latency. */
    private static final int HISTOGRAM_DIGITS = 3;

    /** The figure over all starts and rounds. Null if no cell has it. */
    @Nullable
    Spread values(Figure figure) {
        return Spread.of(cells.stream()
                .map(cell -> figure.of(cell.cell()))
                .flatMapToDouble(OptionalDouble::stream));
    }

    /** The ratios to the baseline over all pairs. Null if no pair has one. */
    @Nullable
    Spread ratios(Figure figure) {
        return Spread.of(cells.stream()
                .map(cell -> cell.ratio(figure))
                .flatMapToDouble(OptionalDouble::stream));
    }

    /**
     * The largest median of a start divided by the smallest: 1 if all starts agree. Empty with less than two
     * starts, and if the smallest is 0.
     */
    OptionalDouble startSpread(Figure figure) {
        Map<RoundKey, List<PairedCell>> byStart = cells.stream()
                .collect(groupingBy(cell -> cell.at().startOnly()));
        Spread starts = Spread.of(byStart.values()
                .stream()
                .map(start -> new TargetRuns(target, baseline, start).median(figure))
                .flatMapToDouble(OptionalDouble::stream));
        return starts == null || starts.count() < 2 || starts.min() <= 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(starts.max() / starts.min());
    }

    /** The number of cells with a partner. */
    int pairs() {
        return (int) cells.stream().filter(cell -> cell.partner() != null).count();
    }

    /** The latencies of all cells in one distribution, of nanoseconds. */
    Histogram latency() {
        Histogram merged = new Histogram(HISTOGRAM_DIGITS);
        cells.forEach(cell -> merged.add(cell.cell().load().latency().distribution()));
        return merged;
    }

    /** The errors of all cells by reason, sorted by reason. */
    Map<String, Long> errors() {
        Map<String, Long> errors = new TreeMap<>();
        cells.forEach(cell -> cell.cell()
                .load()
                .errors()
                .forEach((reason, count) -> errors.merge(reason, count, Long::sum)));
        return errors;
    }

    private OptionalDouble median(Figure figure) {
        Spread values = values(figure);
        return values == null ? OptionalDouble.empty() : OptionalDouble.of(values.median());
    }
}
