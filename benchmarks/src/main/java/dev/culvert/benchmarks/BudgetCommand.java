package dev.culvert.benchmarks;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.load.LoadRun;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.ProcessSnapshot;
import dev.culvert.benchmarks.process.Program;
import dev.culvert.benchmarks.process.Scheduling;
import dev.culvert.benchmarks.profile.CpuProfile;
import dev.culvert.benchmarks.profile.Layer;
import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.benchmarks.result.Usage;
import dev.culvert.benchmarks.target.CulvertServer;
import dev.culvert.benchmarks.target.Launch;
import dev.culvert.benchmarks.target.Testbed;
import dev.culvert.benchmarks.target.Upstream;
import dev.culvert.config.Durations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culvert bench budget}: the CPU time of a small request, by layer of the data path. */
@Command(name = "budget", mixinStandardHelpOptions = true, description = "Profiles a server and a client under small requests, and shows where the CPU time of a request goes.", footer = {
        "", "Example:", "  culvert bench budget --callers 32"})
final class BudgetCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--callers", defaultValue = "32", description = "Requests at once. Default: ${DEFAULT-VALUE}")
    private int callers;

    @Option(names = "--warm-up", defaultValue = "15s", description = "Before the measured time. Default: ${DEFAULT-VALUE}")
    private String warmUp = "";

    @Option(names = "--time", defaultValue = "10s", description = "The measured time. Default: ${DEFAULT-VALUE}")
    private String time = "";

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (callers < 1 || callers > 1000) {
            throw wrong("--callers", callers, "1 to 1000");
        }
        Duration before = time("--warm-up", warmUp);
        Duration measured = time("--time", time);
        try (Testbed bed = Testbed.create(Scheduling.NORMAL)) {
            System.out.print(table(bed, before, measured));
        }
        return 0;
    }

    private String table(Testbed bed, Duration before, Duration measured)
            throws IOException, InterruptedException {
        Path folder = bed.folder("profile");
        var launch = new Launch(Launch.OWN.classPath(), command -> options(folder, command));
        Upstream upstream = Upstream.start(bed);
        CulvertServer server = CulvertServer.start(bed, launch);
        Program client = server.client("demo", "local", "--to", upstream.address());
        client.await("\"event\":\"connected\"");
        List<Long> pids = List.of(server.pid(), client.pid());
        var from = new AtomicReference<Instant>(Instant.now());
        var to = new AtomicReference<Instant>(Instant.now());
        var began = new AtomicReference<ProcessSnapshot>(ProcessSnapshot.of(pids));
        var ended = new AtomicReference<ProcessSnapshot>(began.get());
        LoadFigures figures = LoadRun.run(
                new LoadPlan(server.edge().resolve("/f"), CulvertServer.host("demo", "local"), Kind.GET,
                        false, 0,
                        callers, 0, before, measured),
                () -> {
                    began.set(ProcessSnapshot.of(pids));
                    from.set(Instant.now());
                }, () -> {
                    to.set(Instant.now());
                    ended.set(ProcessSnapshot.of(pids));
                });
        if (figures.requests() == 0) {
            throw BenchException.failed("no request was relayed: " + figures.errors());
        }
        client.end(PATIENCE);
        server.program().end(PATIENCE);
        return table(figures.requests(), ended.get().since(began.get()),
                CpuProfile.read(folder, "server", from.get(), to.get()),
                CpuProfile.read(folder, "client", from.get(), to.get()));
    }

    private static String table(long requests, Usage usage, CpuProfile server, CpuProfile client) {
        var table = new StringBuilder(
                "| µs of CPU time a request | server | client | both |\n|---|---|---|---|\n");
        for (Layer layer : Layer.values()) {
            row(table, layer.description(), server.nanos(layer), client.nanos(layer), requests);
        }
        row(table, "all sampled", server.nanos(), client.nanos(), requests);
        table.append(String.format(Locale.ROOT,
                "%nThe kernel counted %.1f µs a request for both, JIT compilers (%.1f) and collectors (%.1f) included.%n",
                (double) usage.cpuMicros() / requests, (double) usage.jitMicros() / requests,
                (double) usage.gcMicros() / requests));
        return table.toString();
    }

    private static void row(StringBuilder table, String name, long server, long client, long requests) {
        table.append(
                String.format(Locale.ROOT, "| %s | %.1f | %.1f | %.1f |%n", name, server / 1e3 / requests,
                        client / 1e3 / requests, (server + client) / 1e3 / requests));
    }

    private static List<String> options(Path folder, String command) {
        try {
            return CpuProfile.options(folder, command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Duration time(String option, String text) {
        Duration parsed = Durations.parse(text, 6, ChronoUnit.MILLIS, ChronoUnit.HOURS);
        if (parsed == null || parsed.isZero()) {
            throw wrong(option, text, "a time such as 10s");
        }
        return parsed;
    }

    private ParameterException wrong(String option, Object value, String expected) {
        return new ParameterException(spec.commandLine(),
                option + ": " + value + " (expected: " + expected + ")");
    }
}
