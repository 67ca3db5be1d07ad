package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.Scheduling;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code culvert bench compare}: runs the same load alternately against the upstream alone, two nginx hops,
 * and Culvert. Shows the figures as ratios to the nginx hops of the same run.
 */
@Command(name = "compare", mixinStandardHelpOptions = true, description = {
        "Compares Culvert with a chain of two nginx, and with no proxy at all.",
        "The hops have TLS between them, upstream keep-alive and one worker each. Shows requests a second, latency, and CPU"
                + " time per request of the proxies' processes. Needs nginx and wrk."}, footer = {"",
                        "Example:",
                        "  culvert bench compare --connections 1,32,256 --duration 10 --rounds 3"})
final class CompareCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--connections", split = ",", defaultValue = "1,32,256", description = "Connections of the load. Default: ${DEFAULT-VALUE}")
    private List<Integer> connections = List.of();

    @Option(names = "--duration", defaultValue = "10", description = "Seconds of a run. Default: ${DEFAULT-VALUE}")
    private int seconds;

    @Option(names = "--rounds", defaultValue = "3", description = "Runs of each; the table shows medians. Default: ${DEFAULT-VALUE}")
    private int rounds;

    @Option(names = "--warm-up", defaultValue = "150000", description = "Requests before the first run, through each way. Default: ${DEFAULT-VALUE}")
    private long warmUp;

    @Override
    public Integer call() throws IOException {
        check("--connections", connections.stream().mapToInt(Integer::intValue).min().orElse(0), 1);
        check("--duration", seconds, 1);
        check("--rounds", rounds, 1);
        check("--warm-up", warmUp, 0);
        new WrkComparison(connections, Duration.ofSeconds(seconds), rounds, warmUp, Scheduling.NORMAL).run();
        return 0;
    }

    private void check(String option, long value, int least) {
        if (value < least) {
            throw new ParameterException(spec.commandLine(),
                    option + ": " + value + " (expected: " + least + " or more)");
        }
    }
}
