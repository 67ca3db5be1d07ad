package dev.culvert.benchmarks.result;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic scale from values to pixels.
 *
 * @param min the value at {@code from}; above 0
 * @param max the value at {@code to}; above {@code min}
 */
record LogAxis(double min, double max, double from, double to) {
    /** A wider range has its ticks at 1, 2 and 5 of each decade, a narrower one at equal steps. */
    private static final double NARROW = 5;
    /** A wider range has its ticks at 1 of each decade only, or their labels would touch. */
    private static final double WIDE = 2e4;
    private static final int NARROW_TICKS = 5;
    private static final double[] STEPS = {1, 2, 5, 10};
    /** Absorbs the rounding of 0.1 + 0.2. */
    private static final double TOLERANCE = 1e-9;

    LogAxis {
        if (!(min > 0 && max > min && Double.isFinite(max))) {
            throw new IllegalArgumentException(
                    "range: " + min + " to " + max + " (expected: 0 < min < max)");
        }
    }

    /** A scale whose ends are 1, 2 or 5 of a decade. */
    static LogAxis rounded(double min, double max, double from, double to) {
        double low = below(min);
        double high = above(max);
        return new LogAxis(low, high > low ? high : above(low * 1.1), from, to);
    }

    /** The pixel of a value above 0. */
    double at(double value) {
        return from + (to - from) * Math.log(value / min) / Math.log(max / min);
    }

    /** The values for labels and grid lines, in ascending order. */
    List<Double> ticks() {
        return max / min < NARROW ? equalSteps() : decades(max / min > WIDE ? 1 : 3);
    }

    private List<Double> equalSteps() {
        double step = above((max - min) / NARROW_TICKS);
        List<Double> ticks = new ArrayList<>();
        for (long i = (long) Math.ceil(min / step - TOLERANCE); i * step <= max * (1 + TOLERANCE); i++) {
            ticks.add(i * step);
        }
        return ticks;
    }

    private List<Double> decades(int ticksOfDecade) {
        List<Double> ticks = new ArrayList<>();
        for (double decade = decade(min); decade <= max * (1 + TOLERANCE); decade *= 10) {
            for (int i = 0; i < ticksOfDecade; i++) {
                double tick = decade * STEPS[i];
                if (tick >= min * (1 - TOLERANCE) && tick <= max * (1 + TOLERANCE)) {
                    ticks.add(tick);
                }
            }
        }
        return ticks;
    }

    private static double below(double value) {
        double best = decade(value);
        for (double step : STEPS) {
            if (decade(value) * step <= value * (1 + TOLERANCE)) {
                best = decade(value) * step;
            }
        }
        return best;
    }

    private static double above(double value) {
        for (double step : STEPS) {
            if (decade(value) * step >= value * (1 - TOLERANCE)) {
                return decade(value) * step;
            }
        }
        return decade(value) * 10;
    }

    private static double decade(double value) {
        return Math.pow(10, Math.floor(Math.log10(value)));
    }
}
