package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.result.Latency;
import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.benchmarks.result.Usage;
import java.util.Map;

/** Figures for tests. */
final class Figures {
    private Figures() {}

    /** A second with this many exchanges, of a KiB each, and a latency of 2 to 4 ms. */
    static LoadFigures of(long requests, Map<String, Long> errors) {
        return new LoadFigures(requests, errors, requests * 1024, 1,
                new Latency(2000, 3000, 4000, 4000, 4000, 2500, ""));
    }

    /** A round of start 1 in which each exchange took this much CPU time, half as much again for the JIT. */
    static Cell cell(String target, int round, long requests, long cpuMicros) {
        return new Cell("small", target, 32, 0, 1, round, of(requests, Map.of()),
                new Usage(requests * cpuMicros * 3 / 2, requests * cpuMicros / 2, 0, 0, 64 << 20));
    }
}
