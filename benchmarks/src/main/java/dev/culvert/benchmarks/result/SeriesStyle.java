package dev.culvert.benchmarks.result;

/**
 * What tells a target apart in all plots: a colour, and for people who see no colours a marker and a dash.
 *
 * @param index the position among the targets, from 0
 */
record SeriesStyle(int index) {
    /** The colours c0 to c7 of report.css. */
    private static final int COLOURS = 8;
    private static final String[] DASHES = {"none", "6 3", "2 2", "8 3 2 3"};
    private static final int MARKERS = 4;

    /** The class of an element, which sets its {@code color}. */
    String cssClass() {
        return "c" + index % COLOURS;
    }

    /** A value of {@code stroke-dasharray}. */
    String dash() {
        return DASHES[(index + index / COLOURS) % DASHES.length];
    }

    /** The path data of the marker: a circle, a square, a triangle or a diamond. */
    String marker(double x, double y, double radius) {
        String start = "M" + Svg.px(x);
        String r = Svg.px(radius);
        String whole = Svg.px(2 * radius);
        return switch (index % MARKERS) {
            case 0 -> start + " " + Svg.px(y - radius) + "a" + r + " " + r + " 0 1 1 0 " + whole + "a" + r
                    + " " + r + " 0 1 1 0 -" + whole + "z";
            case 1 -> "M" + Svg.px(x - radius) + " " + Svg.px(y - radius) + "h" + whole + "v" + whole + "h-"
                    + whole + "z";
            case 2 -> start + " " + Svg.px(y - radius) + "l" + r + " " + whole + "h-" + whole + "z";
            default -> start + " " + Svg.px(y - radius) + "l" + r + " " + r + "l-" + r + " " + r + "l-" + r
                    + " -" + r + "z";
        };
    }
}
