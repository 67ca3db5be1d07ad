package dev.culvert.benchmarks.result;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The section of a page about one load: figures, latencies, ratios. */
final class GroupSection {
    private static final List<Figure> PLOTTED = List.of(Figure.CPU_PER_REQUEST, Figure.REQUESTS_PER_SECOND);
    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99};

    private final Markup out;
    private final String id;
    private final LoadGroup group;
    private final Map<String, SeriesStyle> styles;

    /** @param id unique in the page; the ids of all elements in this section begin with it */
    GroupSection(Markup out, String id, LoadGroup group, Map<String, SeriesStyle> styles) {
        this.out = out;
        this.id = id;
        this.group = group;
        this.styles = styles;
    }

    void write() {
        out.open("section", "id", id, "aria-labelledby", id + "-heading");
        out.element("h2", group.load().label(), "id", id + "-heading").line();
        figures();
        notes();
        ratioPlots();
        latencies();
        if (group.hasStartSpread()) {
            startSpreads();
        }
        out.close().line();
    }

    private void figures() {
        FigureTable table = new FigureTable(out, styles);
        table.open("Medians, each with its ratio to " + group.baseline() + " and the range of ratios",
                "target");
        out.open("tbody");
        group.targets().forEach(table::values);
        out.close();
        table.close();
    }

    private void notes() {
        List<String> notes = group.notes();
        if (notes.isEmpty()) {
            return;
        }
        out.open("ul", "class", "notes");
        notes.forEach(note -> out.element("li", note));
        out.close().line();
    }

    private void ratioPlots() {
        out.open("div", "class", "plots");
        for (Figure figure : PLOTTED) {
            RatioPlot plot = RatioPlot.of(group, figure, styles);
            if (plot != null) {
                out.open("figure");
                out.element("figcaption", figure.label() + ", ratio to " + group.baseline()
                        + ": each dot is a pair of the same start and round, the bar is their median; a"
                        + " ratio of 0 is not drawn");
                plot.write(out, id + "-" + (figure == Figure.CPU_PER_REQUEST ? "cpu" : "requests"),
                        group.load().label());
                out.close().line();
            }
        }
        out.close().line();
    }

    private void latencies() {
        Map<String, Histogram> latencies = new LinkedHashMap<>();
        for (TargetRuns target : group.targets()) {
            Histogram latency = target.latency();
            if (latency.getTotalCount() > 0) {
                latencies.put(target.target(), latency);
            }
        }
        if (latencies.isEmpty()) {
            return;
        }
        out.open("figure").element("figcaption", "Latency percentiles over all starts and rounds");
        legend(latencies);
        new PercentilePlot(latencies, styles).write(out, id + "-latency", group.load().label());
        out.close().line();
        latencyTable(latencies);
    }

    private void legend(Map<String, Histogram> latencies) {
        out.open("ul", "class", "legend");
        for (String target : latencies.keySet()) {
            out.open("li");
            FigureTable.swatch(out, styles.getOrDefault(target, new SeriesStyle(0)));
            out.text(target).close();
        }
        out.close().line();
    }

    private void latencyTable(Map<String, Histogram> latencies) {
        String caption = "Latency percentiles in ms, over all starts and rounds";
        out.open("details").element("summary", "The same as a table");
        out.open("div", "class", "scroll", "tabindex", "0", "role", "region", "aria-label", caption);
        out.open("table").element("caption", caption).open("thead").open("tr");
        out.element("th", "target", "scope", "col")
                .element("th", "exchanges", "scope", "col", "class", "number");
        for (double percentile : PERCENTILES) {
            out.element("th", Numbers.trimmed(percentile) + " %", "scope", "col", "class", "number");
        }
        out.element("th", "maximum", "scope", "col", "class", "number").close().close().open("tbody");
        latencies.forEach(this::latencyRow);
        out.close().close().close().close().line();
    }

    private void latencyRow(String target, Histogram latency) {
        out.open("tr").element("th", target, "scope", "row");
        out.element("td", Long.toString(latency.getTotalCount()), "class", "number");
        for (double percentile : PERCENTILES) {
            latencyCell(latency.getValueAtPercentile(percentile));
        }
        latencyCell(latency.getMaxValue());
        out.close().line();
    }

    private void latencyCell(long nanos) {
        out.element("td", Numbers.value(Numbers.millis(nanos)), "class", "number");
    }

    private void startSpreads() {
        FigureTable table = new FigureTable(out, styles);
        out.open("details").element("summary", "How much the starts of a target differ");
        table.open("The largest median of a start divided by the smallest; 1 if all starts agree", "target");
        out.open("tbody");
        group.targets().forEach(table::startSpreads);
        out.close();
        table.close();
        out.close().line();
    }
}
