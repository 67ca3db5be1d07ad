package dev.culvert.web;

import gg.jte.Content;
import java.util.Locale;

/**
 * A small line of recent values, drawn as SVG, without axes. What it shows also stands beside it as a number.
 */
public final class Sparkline {
    private static final int WIDTH = 120;
    private static final int HEIGHT = 24;

    private Sparkline() {}

    /** Draws values, the oldest first, over a baseline of 0. Values that are not numbers count as 0. */
    public static Content of(double... values) {
        double most = 0;
        for (double value : values) {
            most = Math.max(most, finite(value));
        }
        var points = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            double x = values.length < 2 ? 0 : (double) i * WIDTH / (values.length - 1);
            double y = most == 0 ? HEIGHT - 1 : HEIGHT - 1 - finite(values[i]) / most * (HEIGHT - 2);
            points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x, y));
        }
        String svg = "<svg class=\"spark\" viewBox=\"0 0 " + WIDTH + ' ' + HEIGHT
                + "\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><polyline points=\""
                + points.toString().strip() + "\"/></svg>";
        return output -> output.writeContent(svg);
    }

    private static double finite(double value) {
        return Double.isFinite(value) && value > 0 ? value : 0;
    }
}
