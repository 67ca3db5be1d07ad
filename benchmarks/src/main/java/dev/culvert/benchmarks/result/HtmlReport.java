package dev.culvert.benchmarks.result;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A comparison as one HTML page with plots. The page loads nothing and has no scripts, so it works without a
 * network and can be sent as one file. It is well-formed XML, too.
 */
public final class HtmlReport {
    private static final String TITLE = "Culvert under load";

    private final Comparison comparison;
    private final Map<String, SeriesStyle> styles = new LinkedHashMap<>();
    private final Markup out = new Markup();

    private HtmlReport(Comparison comparison) {
        this.comparison = comparison;
        List<String> targets = comparison.targets();
        for (int i = 0; i < targets.size(); i++) {
            styles.put(targets.get(i), new SeriesStyle(i));
        }
    }

    /** The whole page; its encoding is UTF-8. */
    public static String of(Comparison comparison) {
        return new HtmlReport(comparison).write();
    }

    private String write() {
        out.open("html", "lang", "en").line();
        head();
        out.open("body").open("main").element("h1", TITLE).line();
        warnings();
        machines();
        explanation();
        summary();
        List<LoadGroup> groups = comparison.groups();
        for (int i = 0; i < groups.size(); i++) {
            new GroupSection(out, id(i), groups.get(i), styles).write();
        }
        out.close().close().close().line();
        return "<!DOCTYPE html>\n" + out;
    }

    private static String id(int group) {
        return "load" + (group + 1);
    }

    private void head() {
        out.open("head").empty("meta", "charset", "utf-8");
        out.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
        out.empty("meta", "name", "color-scheme", "content", "light dark");
        out.element("title", TITLE).line();
        out.element("style", css()).close().line();
    }

    /** Has no character that HTML escapes: inside a style element HTML would not undo it. */
    private static String css() {
        try (InputStream css = Objects
                .requireNonNull(HtmlReport.class.getResourceAsStream("report.css"))) {
            return new String(css.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void warnings() {
        for (ResultFile file : comparison.files()) {
            for (String warning : file.result().warnings()) {
                out.open("p", "class", "warning", "role", "note")
                        .element("strong", "Warning")
                        .text(" " + prefix(file) + warning)
                        .close()
                        .line();
            }
        }
    }

    /** With one file there is no need to name it. */
    private String prefix(ResultFile file) {
        return comparison.files().size() == 1 ? "" : file.name() + ": ";
    }

    private void machines() {
        for (ResultFile file : comparison.files()) {
            out.open("dl", "class", "facts");
            fact("file", file.name());
            fact("taken", file.result().taken());
            fact("cells", Integer.toString(file.result().cells().size()));
            file.result().machine().forEach(this::fact);
            out.close().line();
        }
    }

    private void fact(String name, String value) {
        out.open("div").element("dt", name).element("dd", value).close();
    }

    private void explanation() {
        out.element("p", "Figures are medians over starts and rounds. A ratio is to " + comparison.baseline()
                + ": the median over pairs of cells of the same start and round, and in brackets the range of"
                + " the pairs. ▲ all pairs are better than the baseline, ▼ all are worse (from three pairs on);"
                + " no sign: the pairs disagree. – : no figure.");
        out.line();
    }

    private void summary() {
        out.open("section", "aria-labelledby", "summary-heading");
        out.element("h2", "Summary", "id", "summary-heading").line();
        FigureTable table = new FigureTable(out, styles);
        table.open("Ratios to " + comparison.baseline() + ", all loads", "target");
        List<LoadGroup> groups = comparison.groups();
        for (int i = 0; i < groups.size(); i++) {
            summary(table, id(i), groups.get(i));
        }
        table.close();
        out.close().line();
    }

    private void summary(FigureTable table, String id, LoadGroup group) {
        String columns = Integer.toString(1 + Figure.values().length);
        out.open("tbody").open("tr", "class", "load");
        out.open("th", "scope", "rowgroup", "colspan", columns);
        out.element("a", group.load().label(), "href", "#" + id).close().close().line();
        group.targets().stream().filter(target -> !target.baseline()).forEach(table::ratios);
        out.close().line();
    }
}
