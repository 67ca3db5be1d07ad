package dev.culvert.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
        Path dir = Files.createTempDirectory("culvert-bench-");
        List<Contender> contenders = new ArrayList<>();
        try {
            contenders.addAll(Contenders.start(dir));
            System.out.println(Surroundings.describe());
            contenders.forEach(this::warmUp);
            for (int count : connections) {
                System.out.println();
                System.out.println(CompareTable.of(count, measure(contenders, count)));
            }
            return 0;
        } finally {
            contenders.forEach(Contender::close);
            delete(dir);
        }
    }

    private void check(String option, long value, int least) {
        if (value < least) {
            throw new ParameterException(spec.commandLine(),
                    option + ": " + value + " (expected: " + least + " or more)");
        }
    }

    private Map<String, List<Measurement>> measure(List<Contender> contenders, int count) {
        Map<String, List<Measurement>> runs = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Contender contender : contenders) {
                Cpu before = contender.cpu();
                WrkResult load = load(contender, count, Duration.ofSeconds(seconds));
                runs.computeIfAbsent(contender.name(), name -> new ArrayList<>())
                        .add(Measurement.of(load, contender.cpu().minus(before)));
            }
        }
        return runs;
    }

    private void warmUp(Contender contender) {
        for (long done = 0; done < warmUp;) {
            done += load(contender, 32, Duration.ofSeconds(2)).requests();
        }
    }

    private static WrkResult load(Contender contender, int connections, Duration time) {
        List<String> command = new ArrayList<>(
                List.of("wrk", "-t1", "-c" + connections, "-d" + time.toSeconds() + "s",
                        "--latency"));
        if (!contender.host().isEmpty()) {
            command.addAll(List.of("-H", "Host: " + contender.host()));
        }
        command.add(contender.url());
        return WrkResult.parse(Program.run(command));
    }

    private static void delete(Path dir) throws IOException {
        try (Stream<Path> files = Files.walk(dir)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
