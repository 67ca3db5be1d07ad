package dev.culvert.benchmarks.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.target.Target;
import dev.culvert.config.ByteSize;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparisonTest {
    private static final Duration WARM_UP = Duration.ofSeconds(8);
    private static final List<Target> TARGETS = List.of(target("direct"), target("nginx2"),
            target("culvert"));

    private final List<LoadPlan> plans = Collections.synchronizedList(new ArrayList<>());

    @Test
    void theOrderIsReversedEveryOtherRound() {
        List<String> names = List.of("a", "b", "c");

        assertThat(Comparison.turns(names, 1, 1)).containsExactly("a", "b", "c");
        assertThat(Comparison.turns(names, 1, 2)).containsExactly("c", "b", "a");
        assertThat(Comparison.turns(names, 1, 3)).containsExactly("a", "b", "c");
        assertThat(Comparison.turns(names, 2, 1)).containsExactly("c", "b", "a");
    }

    @Test
    void targetsTakeTurnsUnderEachLoad() {
        List<Cell> cells = comparison(load("small", "1", "32"), load("large", "1")).run(1, TARGETS);

        assertThat(cells)
                .extracting(cell -> cell.scenario() + cell.callers() + " " + cell.round() + cell.target())
                .containsExactly("small1 1direct", "small1 1nginx2", "small1 1culvert", "small1 2culvert",
                        "small1 2nginx2", "small1 2direct", "small32 1direct", "small32 1nginx2",
                        "small32 1culvert", "small32 2culvert", "small32 2nginx2", "small32 2direct",
                        "large1 1direct", "large1 1nginx2", "large1 1culvert", "large1 2culvert",
                        "large1 2nginx2", "large1 2direct");
        assertThat(cells).allMatch(cell -> cell.start() == 1 && cell.load().requests() == 100);
    }

    @Test
    void warmUpIsSharedByTheLoadsWithTheirMostCallers() {
        comparison(load("small", "1", "32"), load("large", "4")).run(1, TARGETS);

        assertThat(plans.stream().filter(plan -> plan.time().equals(WARM_UP.dividedBy(2)))).hasSize(6)
                .extracting(plan -> plan.url().getHost() + " " + plan.callers())
                .containsExactly("direct 32", "direct 4", "nginx2 32", "nginx2 4", "culvert 32", "culvert 4");
    }

    @Test
    void aLoadThatDidNotRunSpoilsTheComparison() {
        var comparison = new Comparison(scenario(List.of(load("small", "1"))),
                (plan, begins, ends) -> Figures.of(1, Map.of()), line -> {});

        assertThatThrownBy(() -> comparison.run(1, TARGETS)).isInstanceOf(BenchException.class)
                .hasMessage("direct, small: the load did not run");
    }

    @Test
    void aTurnWithoutAnAnswerSpoilsTheComparison() {
        var comparison = new Comparison(scenario(List.of(load("small", "8"))), (plan, begins, ends) -> {
            begins.run();
            ends.run();
            boolean silent = plan.url().getHost().equals("nginx2") && plan.callers() == 8
                    && !plan.time().equals(WARM_UP);
            return silent ? Figures.of(0, Map.of("status 502", 7L)) : Figures.of(100, Map.of());
        }, line -> {});

        assertThatThrownBy(() -> comparison.run(1, TARGETS)).isInstanceOf(BenchException.class)
                .hasMessage("nginx2, small, 8 callers, start 1, round 1: no exchange succeeded within 1.0 s;"
                        + " failed: {status 502=7}");
    }

    @Test
    void aBurdenBesideALoadOutlastsIt() {
        comparison(beside(Kind.STALLED)).run(1, List.of(target("direct")));

        assertThat(plans).filteredOn(plan -> plan.kind() == Kind.STALLED)
                .hasSize(3)
                .allSatisfy(plan -> assertThat(plan.callers()).isEqualTo(100))
                .extracting(LoadPlan::time)
                .contains(Duration.ofSeconds(2), WARM_UP.plusSeconds(1));
    }

    @Test
    void aBurdenThatMovesNothingSpoilsTheComparison() {
        var comparison = new Comparison(scenario(List.of(beside(Kind.GET))), (plan, begins, ends) -> {
            begins.run();
            ends.run();
            return Figures.of(plan.url().getPath().equals("/large") ? 0 : 100, Map.of());
        }, line -> {});

        assertThatThrownBy(() -> comparison.run(1, TARGETS)).isInstanceOf(BenchException.class)
                .hasMessage("direct, small: the load beside it, /large, failed: {}");
    }

    private static ScenarioLoad beside(Kind kind) {
        return new ScenarioLoad("small", Kind.GET, "/f", List.of("8"), 0, new ByteSize(0), false,
                Duration.ofSeconds(1), List.of(new BesideLoad(kind, "/large", 100, new ByteSize(0))));
    }

    private Comparison comparison(ScenarioLoad... loads) {
        return new Comparison(scenario(List.of(loads)), (plan, begins, ends) -> {
            plans.add(plan);
            begins.run();
            ends.run();
            return Figures.of(plan.kind() == Kind.STALLED ? 0 : 100, Map.of());
        }, line -> {});
    }

    private static Scenario scenario(List<ScenarioLoad> loads) {
        return new Scenario(List.of("direct", "nginx2", "culvert"), "nginx2", 1, 2, WARM_UP, false, loads);
    }

    private static ScenarioLoad load(String name, String... callers) {
        return new ScenarioLoad(name, Kind.GET, "/f", List.of(callers), 0, new ByteSize(0), false,
                Duration.ofSeconds(1), List.of());
    }

    private static Target target(String name) {
        return new Target(name, URI.create("http://" + name), "", List.of());
    }
}
