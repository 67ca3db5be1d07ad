package dev.culvert.benchmarks.result;

import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Cells and results with round figures. */
public final class Samples {
    private static final long SECONDS = 10;
    private static final long MIB = 1 << 20;

    private Samples() {}

    /** A result with the baseline nginx2. */
    public static BenchResult result(Cell... cells) {
        return new BenchResult(BenchResult.VERSION, "2026-11-22T12:00:00Z", "nginx2", Map.of("cores", "2"),
                List.of("the machine was busy"), List.of(cells));
    }

    /** A cell of 32 callers with 1 KiB and half a context switch a request. */
    public static Cell cell(String target, int start, int round, long perSecond, double cpuPerRequest) {
        long requests = perSecond * SECONDS;
        return new Cell("get", target, 32, 0, start, round,
                new LoadFigures(requests, Map.of(), requests << 10, SECONDS, latency(perSecond)),
                new Usage(Math.round(requests * cpuPerRequest), 0, 0, requests / 2, 100 * MIB));
    }

    /** As a cell whose exchanges failed, all of them for one reason. */
    static Cell failed(Cell cell, String reason, long count) {
        return new Cell(cell.scenario(), cell.target(), cell.callers(), cell.rate(), cell.start(),
                cell.round(),
                new LoadFigures(0, Map.of(reason, count), 0, SECONDS, Latency.of(new Histogram(3))),
                new Usage(0, 0, 0, 0, 0));
    }

    static Comparison comparison(Cell... cells) {
        return Comparison.of(List.of(new ResultFile("a.json", result(cells))), null);
    }

    /** The only group of a comparison of these cells. */
    static LoadGroup group(Cell... cells) {
        return comparison(cells).groups().getFirst();
    }

    /** 1000 latencies from 1 ms to 100 ms, the slower the more requests there are. */
    private static Latency latency(long perSecond) {
        Histogram nanos = new Histogram(3);
        for (int i = 1; i <= 1000; i++) {
            nanos.recordValue(1_000_000 + perSecond * 100L * i);
        }
        return Latency.of(nanos);
    }
}
