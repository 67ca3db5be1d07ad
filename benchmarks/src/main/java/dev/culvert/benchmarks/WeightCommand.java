package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.Scheduling;
import dev.culvert.benchmarks.target.Launch;
import dev.culvert.benchmarks.target.Testbed;
import dev.culvert.benchmarks.target.Weight;
import dev.culvert.config.Durations;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culvert bench weight}: start-up time, memory and CPU time of Culvert while nobody asks. */
@Command(name = "weight", mixinStandardHelpOptions = true, description = "Measures how long Culvert takes to start, and what it costs while nobody asks for anything, and what idle tunnels cost those who do.", footer = {
        "", "Example:", "  culvert bench weight --runtimes 10 --tunnels 5000"})
final class WeightCommand implements Callable<Integer> {
    private static final double MIB = 1 << 20;
    private static final double KIB = 1 << 10;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--starts", defaultValue = "3", description = "How often all processes are started anew. Default: ${DEFAULT-VALUE}")
    private int starts;

    @Option(names = "--runtimes", defaultValue = "10", description = "Clients, each a process. Default: ${DEFAULT-VALUE}")
    private int runtimes;

    @Option(names = "--tunnels", defaultValue = "1000", description = "Of one process besides, two connections each. Default: ${DEFAULT-VALUE}")
    private int tunnels;

    @Option(names = "--idle", defaultValue = "20s", description = "Before memory is read, and in which CPU time is counted. Default: ${DEFAULT-VALUE}")
    private String idle = "";

    @Option(names = "--load", defaultValue = "10s", description = "Of each of three loads of 32 callers that tell the CPU time of a request. Default: ${DEFAULT-VALUE}")
    private String load = "";

    @Option(names = "--dist", description = "A build's folder with its folder lib, and with AOT caches that culvert bench train made. Default: the class path of this command, and no cache")
    private @Nullable Path dist;

    @Override
    public Integer call() throws IOException, InterruptedException {
        require(starts >= 1, "--starts", starts, "1 or more");
        require(runtimes >= 1, "--runtimes", runtimes, "1 or more");
        require(tunnels >= 0 && tunnels <= 10_000, "--tunnels", tunnels, "0 to 10000");
        Duration time = time("--idle", idle);
        require(dist == null || Files.isDirectory(dist.resolve("lib")), "--dist", dist,
                "a folder with a folder lib");
        Launch launch = dist == null ? Launch.OWN : Launch.of(dist);
        Duration each = time("--load", load);
        List<Weight> measured = new ArrayList<>();
        for (int i = 0; i < starts; i++) {
            try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
                measured.add(Weight.measure(bed, launch, runtimes, tunnels, time, each));
            }
        }
        System.out.print(table(measured));
        return 0;
    }

    private String table(List<Weight> measured) {
        var table = new StringBuilder("| " + starts + " starts | median | least – most |\n|---|---|---|\n");
        row(table, "server: start until it listens, s", measured, Weight::serverStart);
        row(table, "client: start until a request is relayed, s", measured, Weight::clientStart);
        row(table, "client: resident memory, MiB", measured, weight -> weight.clientBytes() / MIB);
        row(table, "server with " + runtimes + " runtimes: resident memory, MiB", measured,
                weight -> weight.serverBytes() / MIB);
        if (tunnels > 0) {
            row(table, "server: each of " + tunnels + " idle tunnels, KiB", measured,
                    weight -> weight.tunnelBytes() / KIB);
            row(table, "server with " + tunnels + " idle tunnels: CPU, % of a core", measured,
                    weight -> 100 * weight.cpu());
            row(table, "CPU of a request, server and client, µs", measured, Weight::requestMicros);
            row(table, "the same among " + tunnels + " idle tunnels, µs", measured,
                    Weight::requestMicrosAmong);
        }
        return table.toString();
    }

    private static void row(StringBuilder table, String name, List<Weight> measured,
            ToDoubleFunction<Weight> figure) {
        double[] sorted = measured.stream().mapToDouble(figure).sorted().toArray();
        double median = Arrays.stream(sorted, (sorted.length - 1) / 2, sorted.length / 2 + 1)
                .average()
                .orElseThrow();
        table.append(String.format(Locale.ROOT, "| %s | %.2f | %.2f – %.2f |%n", name, median, sorted[0],
                sorted[sorted.length - 1]));
    }

    private Duration time(String option, String text) {
        Duration time = Durations.parse(text, 6, ChronoUnit.MILLIS, ChronoUnit.HOURS);
        if (time == null || time.isZero()) {
            throw wrong(option, text, "a time such as 20s");
        }
        return time;
    }

    private void require(boolean met, String option, @Nullable Object value, String expected) {
        if (!met) {
            throw wrong(option, value, expected);
        }
    }

    private ParameterException wrong(String option, @Nullable Object value, String expected) {
        return new ParameterException(spec.commandLine(),
                option + ": " + value + " (expected: " + expected + ")");
    }
}
