package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.ProcessSnapshot;
import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.benchmarks.target.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures the loads of a scenario at targets that are up at once. Under each load, and with each number of
 * callers, the targets take turns, round by round: what disturbs the machine for longer than a turn then
 * meets all of them.
 */
public final class Comparison {
    /** The time for callers to connect, hundreds of them with TLS handshakes, before a turn is measured. */
    private static final Duration SETTLE = Duration.ofSeconds(1);
    /** The resource that tells whether a target is ready: all of them lead to it. */
    private static final String SMALL = "/f";
    private static final Duration PROBE = Duration.ofMillis(100);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Scenario scenario;
    private final LoadRunner runner;
    private final Consumer<String> progress;

    /** @param progress receives a line for people at each step */
    public Comparison(Scenario scenario, LoadRunner runner, Consumer<String> progress) {
        this.scenario = scenario;
        this.runner = runner;
        this.progress = progress;
    }

    /**
     * Measures one start of the targets: waits until each of them answers, warms them up, then runs all
     * loads.
     *
     * @param start the number of the start, from 1
     * @param targets in their order
     * @return in the order in which they were measured
     * @throws BenchException if a target answers nothing in a turn, or if one of its processes ends
     */
    public List<Cell> run(int start, List<Target> targets) {
        try {
            for (Target target : targets) {
                awaitAnswer(target);
            }
            for (Target target : targets) {
                progress.accept("start " + start + ": " + target.name() + " warms up");
                warmUp(target);
            }
            List<Cell> cells = new ArrayList<>();
            for (ScenarioLoad load : scenario.loads()) {
                for (int callers : load.callerCounts()) {
                    progress.accept("start " + start + ": " + load.name() + ", " + callers + " callers");
                    cells.addAll(rounds(start, targets, load, callers));
                }
            }
            return cells;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    /**
     * The order of the turns in a round: reversed every other round, so that no target always follows the
     * same one. The first round of a start has the order that the first round of the last start had not.
     */
    static <T> List<T> turns(List<T> targets, int start, int round) {
        return (start + round) % 2 == 0 ? targets : targets.reversed();
    }

    private List<Cell> rounds(int start, List<Target> targets, ScenarioLoad load, int callers)
            throws InterruptedException {
        List<Cell> cells = new ArrayList<>();
        for (int round = 1; round <= scenario.rounds(); round++) {
            for (Target target : turns(targets, start, round)) {
                cells.add(measure(start, round, target, load, callers));
            }
        }
        return cells;
    }

    private Cell measure(int start, int round, Target target, ScenarioLoad load, int callers)
            throws InterruptedException {
        var begin = new AtomicReference<@Nullable ProcessSnapshot>();
        var end = new AtomicReference<@Nullable ProcessSnapshot>();
        LoadFigures figures = run(target, load, load.plan(target, callers, SETTLE, load.time()),
                () -> begin.set(target.snapshot()), () -> end.set(target.snapshot()));
        ProcessSnapshot before = begin.get();
        ProcessSnapshot after = end.get();
        if (before == null || after == null) {
            throw BenchException.failed(target.name() + ", " + load.name() + ": the load did not run");
        }
        if (figures.requests() == 0) {
            throw BenchException.failed(String.format(Locale.ROOT,
                    "%s, %s, %d callers, start %d, round %d: no exchange succeeded within %.1f s; failed: %s",
                    target.name(), load.name(), callers, start, round, figures.seconds(), figures.errors()));
        }
        return new Cell(load.name(), target.name(), callers, load.rate(), start, round, figures,
                after.since(before));
    }

    /** Runs a load together with those beside it, which end after it. */
    private LoadFigures run(Target target, ScenarioLoad load, LoadPlan plan, Runnable begins, Runnable ends)
            throws InterruptedException {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<LoadFigures>> others = new ArrayList<>();
            for (BesideLoad other : load.beside()) {
                LoadPlan beside = other.plan(target, plan.warmUp(), plan.time().plus(SETTLE));
                others.add(threads.submit(() -> runner.run(beside, () -> {}, () -> {})));
            }
            LoadFigures figures = runner.run(plan, begins, ends);
            for (int i = 0; i < others.size(); i++) {
                requireBurden(target, load, load.beside().get(i), others.get(i));
            }
            return figures;
        }
    }

    /** A load that had no burden beside it must not count as one that had. */
    private void requireBurden(Target target, ScenarioLoad load, BesideLoad beside, Future<LoadFigures> done)
            throws InterruptedException {
        LoadFigures figures;
        try {
            figures = done.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
        boolean burdened = beside.kind() == Kind.STALLED ? figures.failed() == 0 : figures.bytes() > 0;
        if (!burdened) {
            throw BenchException.failed(target.name() + ", " + load.name() + ": the load beside it, "
                    + beside.path() + ", failed: " + figures.errors());
        }
        progress.accept(String.format(Locale.ROOT, "%s, %s: %.0f MiB/s beside", target.name(), load.name(),
                figures.bytesPerSecond() / (1 << 20)));
    }

    /** Runs each load for its share of the time, with its most callers. */
    private void warmUp(Target target) throws InterruptedException {
        Duration share = scenario.warmUp().dividedBy(scenario.loads().size());
        if (share.isPositive()) {
            for (ScenarioLoad load : scenario.loads()) {
                int most = load.callerCounts().stream().mapToInt(Integer::intValue).max().orElse(1);
                run(target, load, load.plan(target, most, Duration.ZERO, share), () -> {}, () -> {});
            }
        }
    }

    private void awaitAnswer(Target target) throws InterruptedException {
        var probe = new LoadPlan(target.url(SMALL), target.host(), Kind.GET, false, 0, 1, 0, Duration.ZERO,
                PROBE);
        long end = System.nanoTime() + PATIENCE.toNanos();
        LoadFigures figures;
        do {
            figures = runner.run(probe, () -> {}, () -> {});
            if (figures.requests() > 0 && figures.failed() == 0) {
                return;
            }
        } while (System.nanoTime() < end);
        throw BenchException.failed(
                target.name() + " does not answer at " + probe.url() + ": " + figures.errors());
    }
}
