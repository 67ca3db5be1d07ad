package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.result.LoadFigures;

/** Runs one load to its end: {@link dev.culvert.benchmarks.load.LoadRun}, or a stand-in in tests. */
@FunctionalInterface
public interface LoadRunner {
    /**
     * Runs a load. Blocking.
     *
     * @param begins called when the measured time begins
     * @param ends called when it ends
     */
    LoadFigures run(LoadPlan plan, Runnable begins, Runnable ends) throws InterruptedException;
}
