package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.result.Comparison;
import dev.culvert.benchmarks.result.HtmlReport;
import dev.culvert.benchmarks.result.MarkdownReport;
import dev.culvert.benchmarks.result.ResultFile;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code culvert bench report}: shows result files as Markdown tables and as an HTML page with plots. */
@Command(name = "report", mixinStandardHelpOptions = true, description = {
        "Shows result files as tables: medians, and ratios to the baseline target.",
        "A ratio is between two cells of the same start and round. Its median and range over all pairs are shown."}, footer = {
                "", "Example:", "  culvert bench report result.json --html report.html"})
final class ReportCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(arity = "1..*", paramLabel = "RESULT.json", description = "Result files. Several are shown as one.")
    private List<Path> paths = List.of();

    @Option(names = "--html", paramLabel = "FILE", description = "Also write a page with plots to this file. It needs no network.")
    private @Nullable Path html;

    @Option(names = "--baseline", paramLabel = "TARGET", description = "The target that ratios are to. Default: the one that the files name")
    private @Nullable String baseline;

    @Override
    public Integer call() {
        Comparison comparison = compare();
        PrintWriter out = spec.commandLine().getOut();
        out.println(MarkdownReport.of(comparison));
        out.flush();
        if (html != null) {
            write(html, HtmlReport.of(comparison));
        }
        return 0;
    }

    private Comparison compare() {
        try {
            List<ResultFile> files = paths.stream().map(ResultFile::read).toList();
            checkBaseline(Comparison.targets(files));
            return Comparison.of(files, baseline);
        } catch (IllegalArgumentException e) {
            throw BenchException.failed(Objects.requireNonNull(e.getMessage()));
        }
    }

    private void checkBaseline(Set<String> targets) {
        if (baseline != null && !targets.contains(baseline)) {
            throw new ParameterException(spec.commandLine(), "--baseline: " + baseline
                    + " (expected one of: " + String.join(", ", targets) + ")");
        }
    }

    private static void write(Path file, String page) {
        try {
            Files.writeString(file, page);
        } catch (IOException e) {
            throw BenchException.failed(file + " cannot be written: " + Reason.of(e));
        }
    }
}
