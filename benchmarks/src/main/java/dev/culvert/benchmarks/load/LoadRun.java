package dev.culvert.benchmarks.load;

import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.http.net.EventLoops;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Runs one load on one event loop, so that the generator takes one core at most.
 *
 * <p>In a closed loop each caller asks again when it is answered: a slow target is asked less, and what its
 * callers would have waited meanwhile is not seen. In an open loop exchanges arrive at a fixed rate, whether
 * earlier ones are answered or not, and each latency counts from the intended start. So a pause of the target
 * shows in the latency of all that arrived meanwhile (no coordinated omission).
 */
public final class LoadRun {
    private LoadRun() {}

    /** Runs a load to its end and returns what its callers noticed. Blocking. */
    public static LoadFigures run(LoadPlan plan) throws InterruptedException {
        return run(plan, () -> {}, () -> {});
    }

    /**
     * Runs a load to its end and returns what its callers noticed. Blocking.
     *
     * @param begins called on this thread when the measured time begins
     * @param ends called on this thread when it ends
     */
    public static LoadFigures run(LoadPlan plan, Runnable begins, Runnable ends) throws InterruptedException {
        EventLoops loops = EventLoops.create(1);
        Load load = new Load(plan, loops);
        try {
            load.start();
            TimeUnit.NANOSECONDS.sleep(plan.warmUp().toNanos());
            begins.run();
            load.begin();
            TimeUnit.NANOSECONDS.sleep(plan.time().toNanos());
            CompletableFuture<LoadFigures> figures = load.end();
            ends.run();
            return figures.join();
        } finally {
            load.close();
            loops.dispose();
        }
    }
}
