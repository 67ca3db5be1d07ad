package dev.culvert.benchmarks;

import dev.culvert.benchmarks.result.Usage;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * One run of wrk against one target.
 *
 * @param load the result of the load generator
 * @param cpuMicros the CPU time of the proxies per request in microseconds
 * @param cpuMicrosWithoutJit the same without the JVM's compiler threads
 */
record Measurement(WrkResult load, double cpuMicros, double cpuMicrosWithoutJit) {

    static Measurement of(WrkResult load, Usage usage) {
        return new Measurement(load, (double) usage.cpuMicros() / load.requests(),
                (double) (usage.cpuMicros() - usage.jitMicros()) / load.requests());
    }

    /** The median of one figure over several runs. */
    static double median(List<Measurement> runs, ToDoubleFunction<Measurement> figure) {
        double[] values = runs.stream().mapToDouble(figure).sorted().toArray();
        int middle = values.length / 2;
        return values.length % 2 == 1
                ? values[middle]
                : Arrays.stream(values, middle - 1, middle + 1).average().orElse(0);
    }
}
