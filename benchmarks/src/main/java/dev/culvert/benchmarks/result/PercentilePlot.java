package dev.culvert.benchmarks.result;

import java.math.BigDecimal;
import java.util.Map;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;

/**
 * Draws latencies over percentiles, one curve for each target. Both scales are logarithmic: the latency's,
 * and that of the percentiles in 1/(1-p), on which 90 %, 99 % and 99.9 % have equal distances.
 */
final class PercentilePlot {
    private static final int WIDTH = 760;
    private static final int HEIGHT = 380;
    private static final int LEFT = 64;
    private static final int RIGHT = WIDTH - 34;
    private static final int TOP = 14;
    private static final int BOTTOM = HEIGHT - 46;
    private static final int POINTS_PER_DECADE = 32;
    /** 99.9999 %: beyond it even long runs have only single exchanges. */
    private static final int MAX_DECADES = 6;
    /** No exchange is faster, so a latency of 0, which has no logarithm, is drawn here. */
    private static final double MIN_NANOS = 1000;
    private static final double[] MARKED = {50, 90, 99, 99.9, 99.99};
    private static final double MARKER_RADIUS = 3.5;

    private final Map<String, Histogram> latencies;
    private final Map<String, SeriesStyle> styles;
    private final int decades;
    private final LogAxis across;
    private final LogAxis up;

    /**
     * @param latencies of each target in nanoseconds, in the order of drawing; one or more, none empty
     * @param styles of each target
     */
    PercentilePlot(Map<String, Histogram> latencies, Map<String, SeriesStyle> styles) {
        this.latencies = latencies;
        this.styles = styles;
        long most = 1;
        double slowest = MIN_NANOS;
        double fastest = Double.MAX_VALUE;
        for (Histogram latency : latencies.values()) {
            most = Math.max(most, latency.getTotalCount());
            slowest = Math.max(slowest, (double) latency.getMaxValue());
            fastest = Math.min(fastest, nanosAt(latency, 0));
        }
        decades = (int) Math.clamp(Math.ceil(Math.log10((double) most)), 1, MAX_DECADES);
        across = new LogAxis(1, Math.pow(10, decades), LEFT, RIGHT);
        up = LogAxis.rounded(fastest, slowest, BOTTOM, TOP);
    }

    /**
     * Writes the plot as an SVG element.
     *
     * @param id unique in the page
     */
    void write(Markup out, String id, String load) {
        Svg svg = new Svg(out).open(id, WIDTH, HEIGHT, "Latency percentiles: " + load, description());
        grid(svg);
        latencies.forEach((target, latency) -> curve(svg, styles.getOrDefault(target, new SeriesStyle(0)),
                target, latency));
        svg.close();
    }

    private String description() {
        return latencies.entrySet()
                .stream()
                .map(entry -> entry.getKey() + ": median " + duration(entry.getValue(), 50) + ", 99 % "
                        + duration(entry.getValue(), 99) + ", maximum "
                        + Numbers.duration((double) entry.getValue().getMaxValue()))
                .collect(Collectors.joining("; ", "Latency over percentiles, both logarithmic. ", "."));
    }

    private void grid(Svg svg) {
        for (double tick : up.ticks()) {
            svg.line("grid", LEFT, up.at(tick), RIGHT, up.at(tick));
            svg.text("tick", "end", LEFT - 6, up.at(tick) + 4, Numbers.duration(tick));
        }
        column(svg, 2, "50 %");
        for (int i = 0; i <= decades; i++) {
            BigDecimal beyond = BigDecimal.ONE.scaleByPowerOfTen(2 - i);
            column(svg, Math.pow(10, i), new BigDecimal(100).subtract(beyond).toPlainString() + " %");
        }
        svg.line("frame", LEFT, TOP, LEFT, BOTTOM);
        svg.line("frame", LEFT, BOTTOM, RIGHT, BOTTOM);
        svg.text("axis", "middle", (LEFT + RIGHT) / 2.0, HEIGHT - 8,
                "share of exchanges that took at most this long");
    }

    private void column(Svg svg, double odds, String label) {
        svg.line("grid", across.at(odds), TOP, across.at(odds), BOTTOM);
        svg.text("tick", "middle", across.at(odds), BOTTOM + 18, label);
    }

    private void curve(Svg svg, SeriesStyle style, String target, Histogram latency) {
        double count = latency.getTotalCount();
        double end = Math.min(count, across.max());
        StringBuilder path = new StringBuilder();
        for (int i = 0; i <= MAX_DECADES * POINTS_PER_DECADE; i++) {
            double odds = Math.min(end, Math.pow(10, (double) i / POINTS_PER_DECADE));
            path.append(i == 0 ? "M" : "L")
                    .append(Svg.px(across.at(odds)))
                    .append(' ')
                    .append(Svg.px(up.at(nanosAt(latency, odds < count ? percentile(odds) : 100))));
            if (odds >= end) {
                break;
            }
        }
        svg.curve(style, path.toString());
        for (double percentile : MARKED) {
            double odds = 100 / (100 - percentile);
            if (odds <= end) {
                svg.marker(style, across.at(odds), up.at(nanosAt(latency, percentile)), MARKER_RADIUS,
                        target + ", " + Numbers.trimmed(percentile) + " %: " + duration(latency, percentile));
            }
        }
    }

    private static double percentile(double odds) {
        return 100 * (1 - 1 / odds);
    }

    private static double nanosAt(Histogram latency, double percentile) {
        return Math.max(MIN_NANOS, (double) latency.getValueAtPercentile(percentile));
    }

    private static String duration(Histogram latency, double percentile) {
        return Numbers.duration(nanosAt(latency, percentile));
    }
}
