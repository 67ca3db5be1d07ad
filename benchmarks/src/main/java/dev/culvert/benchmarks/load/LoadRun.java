package dev.culvert.benchmarks.load;

import dev.culvert.benchmarks.result.LoadFigures;

/** Runs one load. */
public final class LoadRun {
    private LoadRun() {}

    /** Runs a load to its end and returns what its callers noticed. Blocking. */
    public static LoadFigures run(LoadPlan plan) throws InterruptedException {
        return run(plan, () -> {}, () -> {});
    }

    /**
     * Runs a load to its end.
     *
     * @param begins called when the measured time begins
     * @param ends called when it ends
     */
    public static LoadFigures run(LoadPlan plan, Runnable begins, Runnable ends) throws InterruptedException {
        throw new UnsupportedOperationException("TODO");
    }
}
