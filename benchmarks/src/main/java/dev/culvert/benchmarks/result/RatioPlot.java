package dev.culvert.benchmarks.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Draws the ratios of one figure to the baseline: a row for each target, a dot for each pair, a bar at the
 * median, and a line at 1. The scale is logarithmic, so that half and twice have equal distances from 1. A
 * ratio of 0 has no place on it and is not drawn.
 */
final class RatioPlot {
    private static final int WIDTH = 560;
    private static final int LEFT = 130;
    private static final int RIGHT = WIDTH - 126;
    private static final int TOP = 24;
    private static final int ROW = 34;
    private static final int BELOW = 28;
    private static final int LABEL_LENGTH = 18;
    private static final double DOT_RADIUS = 4;
    /** Equal ratios lie on several lines of a row, so that all can be seen. */
    private static final int LINES = 5;
    private static final double LINE_DISTANCE = 4;
    /** A narrower scale would make noise look like a difference. */
    private static final double MIN_RANGE = 1.2;
    private static final double MARGIN = 1.02;

    private final Figure figure;
    private final String baseline;
    private final List<TargetRuns> rows;
    private final Map<String, SeriesStyle> styles;
    private final LogAxis axis;

    private RatioPlot(Figure figure, String baseline, List<TargetRuns> rows, Map<String, SeriesStyle> styles,
            LogAxis axis) {
        this.figure = figure;
        this.baseline = baseline;
        this.rows = rows;
        this.styles = styles;
        this.axis = axis;
    }

    /** Prepares the plot of a figure. Null if no target has a ratio above 0. */
    static @Nullable RatioPlot of(LoadGroup group, Figure figure, Map<String, SeriesStyle> styles) {
        List<TargetRuns> rows = new ArrayList<>();
        double low = 1;
        double high = 1;
        for (TargetRuns target : group.targets()) {
            double[] ratios = target.cells()
                    .stream()
                    .map(cell -> cell.ratio(figure))
                    .flatMapToDouble(OptionalDouble::stream)
                    .filter(ratio -> ratio > 0)
                    .toArray();
            for (double ratio : ratios) {
                low = Math.min(low, ratio);
                high = Math.max(high, ratio);
            }
            if (ratios.length > 0) {
                rows.add(target);
            }
        }
        if (rows.isEmpty()) {
            return null;
        }
        double margin = Math.max(MARGIN, Math.sqrt(MIN_RANGE * low / high));
        return new RatioPlot(figure, group.baseline(), List.copyOf(rows), styles,
                new LogAxis(low / margin, high * margin, LEFT, RIGHT));
    }

    /**
     * Writes the plot as an SVG element.
     *
     * @param id unique in the page
     */
    void write(Markup out, String id, String load) {
        int bottom = TOP + rows.size() * ROW;
        Svg svg = new Svg(out).open(id, WIDTH, bottom + BELOW,
                figure.label() + ", ratio to " + baseline + ": " + load, description());
        grid(svg, bottom);
        for (int i = 0; i < rows.size(); i++) {
            row(svg, rows.get(i), TOP + i * ROW + ROW / 2.0);
        }
        svg.close();
    }

    private String description() {
        return rows.stream()
                .map(this::words)
                .collect(Collectors.joining("; ", "A dot for each pair of the same start and round. ", "."));
    }

    private String words(TargetRuns target) {
        Spread ratios = target.ratios(figure);
        return ratios == null
                ? target.target() + ": no ratio"
                : target.target() + ": median " + Numbers.ratio(ratios.median()) + ", range "
                        + Numbers.range(ratios) + ", pairs " + ratios.count();
    }

    private void grid(Svg svg, int bottom) {
        for (double tick : axis.ticks()) {
            svg.line("grid", axis.at(tick), TOP, axis.at(tick), bottom);
            svg.text("tick", "middle", axis.at(tick), bottom + 18, Numbers.trimmed(tick));
        }
        svg.line("one", axis.at(1), TOP - 6, axis.at(1), bottom);
        svg.text("axis", "middle", axis.at(1), TOP - 10, Svg.shorten(baseline, LABEL_LENGTH) + " = 1");
    }

    private void row(Svg svg, TargetRuns target, double middle) {
        SeriesStyle style = styles.getOrDefault(target.target(), new SeriesStyle(0));
        svg.text("label", "end", LEFT - 10, middle + 4, Svg.shorten(target.target(), LABEL_LENGTH));
        int line = 0;
        for (PairedCell cell : target.cells()) {
            double ratio = cell.ratio(figure).orElse(0);
            if (ratio > 0) {
                double y = middle + (line++ % LINES - LINES / 2) * LINE_DISTANCE;
                svg.marker(style, axis.at(ratio), y, DOT_RADIUS,
                        target.target() + ", " + cell.at().label() + ": " + Numbers.ratio(ratio));
            }
        }
        Spread ratios = target.ratios(figure);
        if (ratios != null) {
            if (ratios.median() > 0) {
                double x = axis.at(ratios.median());
                svg.line("median", x, middle - ROW / 2.0 + 3, x, middle + ROW / 2.0 - 3);
            }
            svg.text("label", "start", RIGHT + 10, middle + 4,
                    Numbers.ratio(ratios.median()) + " (" + Numbers.range(ratios) + ")");
        }
    }
}
