package dev.culvert.benchmarks.result;

import java.util.Arrays;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A comparison as Markdown: machine and warnings, then one table of figures for each load. */
public final class MarkdownReport {
    private static final Pattern SPECIAL = Pattern.compile("([\\\\|*`<>\\[\\]])");
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cntrl}\\u2028\\u2029]+");

    private final Comparison comparison;
    private final StringBuilder out = new StringBuilder(4096);

    private MarkdownReport(Comparison comparison) {
        this.comparison = comparison;
    }

    /** The report without a line end at its end. */
    public static String of(Comparison comparison) {
        return new MarkdownReport(comparison).write();
    }

    private String write() {
        comparison.files().forEach(this::file);
        out.append("Figures are medians over starts and rounds. In brackets: the ratio to ")
                .append(escape(comparison.baseline()))
                .append(", as the\nmedian over pairs of the same start and round, and its range.\n");
        comparison.groups().forEach(this::group);
        return out.toString().stripTrailing();
    }

    private void file(ResultFile file) {
        BenchResult result = file.result();
        for (String warning : result.warnings()) {
            out.append("**Warning**: ").append(escape(warning)).append("\n\n");
        }
        out.append(escape(file.name())).append(", taken ").append(escape(result.taken()));
        for (Map.Entry<String, String> fact : result.machine().entrySet()) {
            out.append(" · ").append(escape(fact.getKey())).append(' ').append(escape(fact.getValue()));
        }
        out.append("\n\n");
    }

    private void group(LoadGroup group) {
        out.append("\n## ").append(escape(group.load().label())).append("\n\n");
        table("target", group, MarkdownReport::cell);
        if (group.hasStartSpread()) {
            out.append('\n');
            table("largest start / smallest", group,
                    (target, figure) -> Numbers.ratio(target.startSpread(figure)));
        }
        if (!group.notes().isEmpty()) {
            out.append('\n');
            group.notes().forEach(note -> out.append("- ").append(escape(note)).append('\n'));
        }
    }

    private void table(String corner, LoadGroup group, BiFunction<TargetRuns, Figure, String> cell) {
        out.append("| ").append(corner).append(row(figure -> figure.label()));
        out.append("|---").append("|--:".repeat(Figure.values().length)).append("|\n");
        for (TargetRuns target : group.targets()) {
            out.append("| ")
                    .append(escape(target.target()))
                    .append(row(figure -> cell.apply(target, figure)));
        }
    }

    private static String row(Function<Figure, String> cell) {
        return Arrays.stream(Figure.values())
                .map(cell)
                .collect(Collectors.joining(" | ", " | ", " |\n"));
    }

    private static String cell(TargetRuns target, Figure figure) {
        String median = figure.median(target.values(figure));
        Spread ratios = target.ratios(figure);
        if (ratios == null) {
            return median;
        }
        String ratio = Numbers.ratio(ratios.median());
        return ratios.count() == 1
                ? median + " (" + ratio + ")"
                : median + " (" + ratio + ", " + Numbers.range(ratios) + ")";
    }

    /** Keeps text of a result file from being read as Markdown or HTML, or from ending its line. */
    static String escape(String text) {
        return SPECIAL.matcher(CONTROL.matcher(text).replaceAll(" ")).replaceAll("\\\\$1");
    }
}
