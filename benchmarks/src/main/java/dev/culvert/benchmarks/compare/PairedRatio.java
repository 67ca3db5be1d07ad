package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.result.Cell;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The ratio of a figure of a target to that of the baseline in the same round of the same start. Rounds in
 * which one of them had a failed exchange, or no other, are left out.
 *
 * @param median of all rounds; NaN if there is none
 */
record PairedRatio(double median, double least, double most) {
    static PairedRatio of(List<Cell> cells, List<Cell> baseline, ToDoubleFunction<Cell> figure) {
        double[] ratios = cells.stream()
                .filter(cell -> cell.load().sound())
                .flatMapToDouble(cell -> baseline.stream()
                        .filter(base -> base.load().sound())
                        .filter(base -> base.start() == cell.start() && base.round() == cell.round())
                        .filter(base -> figure.applyAsDouble(base) > 0)
                        .mapToDouble(base -> figure.applyAsDouble(cell) / figure.applyAsDouble(base)))
                .sorted()
                .toArray();
        return ratios.length == 0
                ? new PairedRatio(Double.NaN, Double.NaN, Double.NaN)
                : new PairedRatio(median(ratios), ratios[0], ratios[ratios.length - 1]);
    }

    /** The median of a figure over cells; NaN if there are none. */
    static double median(List<Cell> cells, ToDoubleFunction<Cell> figure) {
        return median(cells.stream().mapToDouble(figure).sorted().toArray());
    }

    /** {@code 0.97 (0.95-1.01)}, or a dash if there is none. */
    @Override
    public String toString() {
        return Double.isNaN(median)
                ? "–"
                : String.format(Locale.ROOT, "%.2f (%.2f–%.2f)", median, least, most);
    }

    private static double median(double[] sorted) {
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
