package dev.culvert.benchmarks;

import dev.culvert.benchmarks.compare.Comparison;
import dev.culvert.benchmarks.compare.Noise;
import dev.culvert.benchmarks.compare.Scenario;
import dev.culvert.benchmarks.compare.ScenarioTable;
import dev.culvert.benchmarks.load.LoadRun;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.result.BenchResult;
import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.target.Target;
import dev.culvert.benchmarks.target.TargetChoice;
import dev.culvert.benchmarks.target.TargetKind;
import dev.culvert.benchmarks.target.Testbed;
import dev.culvert.benchmarks.target.Upstream;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The comparison by a scenario: its targets and their upstream are started anew for each start. Prints the
 * machine, the warnings and the tables; progress goes to standard error.
 *
 * @param json the result file, written before the first start and after each one; null: none
 */
record ScenarioComparison(Scenario scenario, @Nullable Path json) {

    /**
     * Runs all starts. Blocking.
     *
     * @throws BenchException if a target answers nothing in a turn; after the tables, if an exchange failed
     */
    void run() throws IOException {
        TargetChoice choice = scenario.choose(program -> Program.find(program) != null);
        List<String> warnings = new ArrayList<>(Noise.before(Surroundings.loadAverage(),
                Runtime.getRuntime().availableProcessors()));
        Map<String, String> machine = machine(choice);
        machine.forEach((name, value) -> System.out.println(name + ": " + value));
        choice.skipped().forEach(line -> System.out.println("skipped: " + line));
        var comparison = new Comparison(scenario, LoadRun::run, System.err::println);
        List<Cell> cells = new ArrayList<>();
        BenchResult result = result(machine, warnings, cells);
        write(result); // a file that can't be written is reported before all of the work
        for (int start = 1; start <= scenario.starts(); start++) {
            cells.addAll(start(start, choice, comparison));
            result = result(machine, warnings, cells);
            write(result);
        }
        result.warnings().forEach(warning -> System.out.println("warning: " + warning));
        System.out.println();
        System.out.println(ScenarioTable.of(result));
        if (cells.stream().anyMatch(cell -> !cell.load().sound())) {
            throw BenchException.failed("some exchanges failed; rounds with them have no ratio: "
                    + String.join("; ", Noise.failures(cells)));
        }
    }

    private List<Cell> start(int number, TargetChoice choice, Comparison comparison) throws IOException {
        try (Testbed bed = Testbed.create(scenario.scheduling())) {
            Upstream upstream = Upstream.start(bed);
            List<Target> targets = new ArrayList<>();
            for (TargetKind kind : choice.kinds()) {
                System.err.println("start " + number + ": " + kind.name());
                Target target = kind.start(bed, upstream);
                scenario.scheduling().require(target.name(), target.processes());
                targets.add(target);
            }
            return comparison.run(number, targets);
        }
    }

    private void write(BenchResult result) {
        if (json == null) {
            return;
        }
        try {
            result.write(json);
        } catch (IOException e) {
            throw BenchException.failed("--json: " + json + " can't be written: " + Reason.of(e));
        }
    }

    private BenchResult result(Map<String, String> machine, List<String> before, List<Cell> cells) {
        List<String> warnings = new ArrayList<>(before);
        warnings.addAll(Noise.among(cells, scenario.baseline()));
        warnings.addAll(Noise.failures(cells));
        return new BenchResult(BenchResult.VERSION, Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                scenario.baseline(), machine, warnings, List.copyOf(cells));
    }

    private Map<String, String> machine(TargetChoice choice) {
        Map<String, String> machine = new LinkedHashMap<>(Surroundings.facts());
        machine.put("scheduling of measured programs", scenario.scheduling().description());
        for (TargetKind kind : choice.kinds()) {
            String version = kind.version();
            if (!version.isEmpty() && !machine.containsValue(version)) {
                machine.put(kind.name(), version);
            }
        }
        return machine;
    }
}
