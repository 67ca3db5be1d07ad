package dev.culvert.benchmarks;

import dev.culvert.benchmarks.compare.Scenario;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.process.Scheduling;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code culvert bench compare}: runs the same load alternately against several ways to one upstream, and
 * shows the figures as ratios to a baseline of the same run. A scenario file names targets and loads; without
 * one wrk compares the upstream alone, two nginx hops, and Culvert.
 */
@Command(name = "compare", mixinStandardHelpOptions = true, description = {
        "Compares Culvert with other proxies and tunnels, and with no proxy at all.",
        "With --scenario: the targets and loads of a file, by the harness's own load generator, with ratios that are paired by"
                + " round. Without: a chain of two nginx, which have TLS between them, upstream keep-alive and as many workers"
                + " each as Culvert has event loops; needs nginx and wrk. Shows requests a second, latency, and CPU time per request of the proxies'"
                + " processes."}, footer = {"",
                        "Examples:",
                        "  culvert bench compare --connections 1,32,256 --duration 10 --rounds 3",
                        "  culvert bench compare --scenario benchmarks/scenarios/requests.yaml --json result.json"})
final class CompareCommand implements Callable<Integer> {
    private static final int ROUNDS = 3;
    private static final List<String> OF_WRK = List.of("--connections", "--duration", "--warm-up");
    private static final List<String> OF_SCENARIO = List.of("--json", "--targets", "--baseline", "--starts");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--connections", split = ",", defaultValue = "1,32,256", description = "Connections of the load. Default: ${DEFAULT-VALUE}")
    private List<Integer> connections = List.of();

    @Option(names = "--duration", defaultValue = "10", description = "Seconds of a run. Default: ${DEFAULT-VALUE}")
    private int seconds;

    @Option(names = "--rounds", description = "Runs of each; the table shows medians. Default: 3, or the scenario's")
    private @Nullable Integer rounds;

    @Option(names = "--warm-up", defaultValue = "150000", description = "Requests before the first run, through each way. Default: ${DEFAULT-VALUE}")
    private long warmUp;

    @Option(names = "--scenario", paramLabel = "FILE", description = "YAML file of targets and loads, as in benchmarks/scenarios.")
    private @Nullable Path scenario;

    @Option(names = "--json", paramLabel = "OUT", description = "With a scenario: the result file to write.")
    private @Nullable Path json;

    @Option(names = "--targets", split = ",", description = "With a scenario: the targets, instead of the file's.")
    private List<String> targets = List.of();

    @Option(names = "--baseline", paramLabel = "NAME", description = "With a scenario: the target that ratios are to, instead of the file's.")
    private @Nullable String baseline;

    @Option(names = "--starts", description = "With a scenario: how often all processes are started anew, instead of the file's.")
    private @Nullable Integer starts;

    @Option(names = "--batch", description = "Run all measured programs, Culvert's and the others', under chrt --batch 0 (SCHED_BATCH): a thread that wakes up does not preempt the running one. Default: off for all, or the scenario's")
    private boolean batch;

    @Override
    public Integer call() throws IOException {
        check("--connections", connections.stream().mapToInt(Integer::intValue).min().orElse(0), 1);
        check("--duration", seconds, 1);
        check("--rounds", rounds == null ? 1 : rounds, 1);
        check("--starts", starts == null ? 1 : starts, 1);
        check("--warm-up", warmUp, 0);
        Path file = scenario;
        if (file == null) {
            refuse(OF_SCENARIO, "needs --scenario");
            Scheduling scheduling = batch ? Scheduling.BATCH : Scheduling.NORMAL;
            requireChrt(scheduling);
            new WrkComparison(connections, Duration.ofSeconds(seconds), rounds == null ? ROUNDS : rounds,
                    warmUp, scheduling).run();
        } else {
            refuse(OF_WRK, "can't be combined with --scenario, whose file has it");
            Scenario read = Scenario.read(file, flags());
            requireChrt(read.scheduling());
            new ScenarioComparison(read, json).run();
        }
        return 0;
    }

    /** The options that override keys of the scenario, by flag. */
    private Map<String, String> flags() {
        Map<String, String> flags = new HashMap<>();
        if (!targets.isEmpty()) {
            flags.put("--targets", String.join(",", targets));
        }
        if (baseline != null) {
            flags.put("--baseline", baseline);
        }
        if (starts != null) {
            flags.put("--starts", starts.toString());
        }
        if (rounds != null) {
            flags.put("--rounds", rounds.toString());
        }
        if (batch) {
            flags.put("--batch", "true");
        }
        return flags;
    }

    private static void requireChrt(Scheduling scheduling) {
        if (scheduling == Scheduling.BATCH && Program.find("chrt") == null) {
            throw BenchException.unavailable(
                    "SCHED_BATCH (--batch, or batch in the scenario) needs chrt (expected: on the PATH)");
        }
    }

    private void check(String option, long value, int least) {
        if (value < least) {
            throw new ParameterException(spec.commandLine(),
                    option + ": " + value + " (expected: " + least + " or more)");
        }
    }

    private void refuse(List<String> options, String reason) {
        for (String option : options) {
            if (spec.commandLine().getParseResult().hasMatchedOption(option)) {
                throw new ParameterException(spec.commandLine(), option + " " + reason);
            }
        }
    }
}
