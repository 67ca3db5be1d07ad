package dev.culvert.benchmarks;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.load.LoadRun;
import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.result.BenchResult;
import dev.culvert.benchmarks.result.Cell;
import dev.culvert.benchmarks.result.LoadFigures;
import dev.culvert.benchmarks.result.Usage;
import dev.culvert.config.ByteSize;
import dev.culvert.config.Durations;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culvert bench load}: puts one load on any URL, and shows what its callers noticed. */
@Command(name = "load", mixinStandardHelpOptions = true, description = {
        "Puts a load on a URL, and shows what its callers noticed.",
        "With --rate exchanges arrive at that rate whether earlier ones are answered or not, and each latency counts"
                + " from the intended start. Without it each caller asks again when it is answered."}, footer = {
                        "", "Example:",
                        "  culvert bench load --url https://127.0.0.1:8443/f --host demo-local.culvert.localhost --callers 32"})
final class LoadCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--url", required = true, description = "http or https; certificates are not verified.")
    private URI url = URI.create("");

    @Option(names = "--host", defaultValue = "", description = "The Host of the requests. Default: the URL's")
    private String host = "";

    @Option(names = "--kind", defaultValue = "get", description = "get, upload, webhook, websocket or events. Default: ${DEFAULT-VALUE}")
    private String kind = "";

    @Option(names = "--http2", description = "Callers speak HTTP/2; up to 50 share a connection.")
    private boolean http2;

    @Option(names = "--bytes", defaultValue = "2KiB", description = "Of a request's body or a message. Default: ${DEFAULT-VALUE}")
    private String bytes = "";

    @Option(names = "--callers", defaultValue = "32", description = "Exchanges at once; with --rate the most. Default: ${DEFAULT-VALUE}")
    private int callers;

    @Option(names = "--rate", defaultValue = "0", description = "New exchanges a second. Default: a closed loop")
    private double rate;

    @Option(names = "--warm-up", defaultValue = "2s", description = "Before the measured time. Default: ${DEFAULT-VALUE}")
    private String warmUp = "";

    @Option(names = "--duration", defaultValue = "10s", description = "The measured time. Default: ${DEFAULT-VALUE}")
    private String duration = "";

    @Option(names = "--json", description = "Writes the result to this file, for culvert bench report.")
    private @Nullable Path json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        LoadPlan plan = plan();
        LoadFigures figures = LoadRun.run(plan);
        System.out.print(text(figures));
        if (json != null) {
            var cell = new Cell(name(plan), plan.url().getRawAuthority(), callers, rate, 1, 1, figures,
                    new Usage(0, 0, 0, 0, 0));
            new BenchResult(BenchResult.VERSION, Instant.now().toString(), cell.target(), Map.of(), List.of(),
                    List.of(cell)).write(json);
        }
        if (figures.requests() == 0) {
            throw BenchException.failed("no exchange succeeded: " + figures.errors());
        }
        return 0;
    }

    private LoadPlan plan() {
        require(url.getHost() != null && List.of("http", "https").contains(String.valueOf(url.getScheme())),
                "--url", url, "http://host:port/path or https://host:port/path");
        require(callers >= 1 && callers <= 100_000, "--callers", callers, "1 to 100000");
        require(rate >= 0 && rate <= 1e6, "--rate", rate, "0 to 1000000");
        Kind chosen = kind();
        require(!http2 || chosen == Kind.GET || chosen == Kind.UPLOAD || chosen == Kind.WEBHOOK, "--http2",
                kind, "a --kind of get, upload or webhook");
        require(chosen != Kind.EVENTS || rate == 0, "--rate", rate, "none with --kind events");
        return new LoadPlan(url, host, chosen, http2, size(), callers, rate,
                time("--warm-up", warmUp, Duration.ZERO), time("--duration", duration, Duration.ofMillis(1)));
    }

    private Kind kind() {
        String expected = "get, upload, webhook, websocket or events";
        try {
            Kind chosen = Kind.valueOf(kind.toUpperCase(Locale.ROOT));
            require(chosen != Kind.STALLED, "--kind", kind, expected);
            return chosen;
        } catch (IllegalArgumentException e) {
            throw wrong("--kind", kind, expected);
        }
    }

    private int size() {
        try {
            return Math.toIntExact(ByteSize.parse(bytes).bytes());
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw wrong("--bytes", bytes, "a size below 2 GiB, such as 2KiB");
        }
    }

    private Duration time(String option, String text, Duration least) {
        Duration parsed = Durations.parse(text, 6, ChronoUnit.MILLIS, ChronoUnit.HOURS);
        if (parsed == null || parsed.compareTo(least) < 0) {
            throw wrong(option, text, "a time such as 500ms or 10s");
        }
        return parsed;
    }

    private void require(boolean met, String option, Object value, String expected) {
        if (!met) {
            throw wrong(option, value, expected);
        }
    }

    private ParameterException wrong(String option, Object value, String expected) {
        return new ParameterException(spec.commandLine(),
                option + ": " + value + " (expected: " + expected + ")");
    }

    private static String name(LoadPlan plan) {
        return plan.kind().name().toLowerCase(Locale.ROOT) + (plan.http2() ? " http2" : "");
    }

    static String text(LoadFigures figures) {
        var text = new StringBuilder(String.format(Locale.ROOT,
                "%.0f/s (%d in %.1f s), %.1f MiB/s%n"
                        + "latency ms: p50 %.2f, p90 %.2f, p99 %.2f, p99.9 %.2f, most %.2f%n",
                figures.perSecond(), figures.requests(), figures.seconds(),
                figures.bytesPerSecond() / (1 << 20), figures.latency().p50() / 1000,
                figures.latency().p90() / 1000, figures.latency().p99() / 1000,
                figures.latency().p999() / 1000, figures.latency().max() / 1000));
        figures.errors()
                .forEach((reason, count) -> text.append(count)
                        .append(" failed: ")
                        .append(reason)
                        .append(System.lineSeparator()));
        return text.toString();
    }
}
