package dev.culvert.benchmarks.result;

import java.util.Arrays;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * The median and the range of some values.
 *
 * @param count the number of values: 1 or more
 */
record Spread(double median, double min, double max, int count) {

    /** Summarises the values. Null if there is none. */
    static @Nullable Spread of(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        if (sorted.length == 0) {
            return null;
        }
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1
                ? sorted[middle]
                : Arrays.stream(sorted, middle - 1, middle + 1).sum() / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1], sorted.length);
    }
}
