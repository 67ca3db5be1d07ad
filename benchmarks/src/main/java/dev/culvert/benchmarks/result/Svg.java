package dev.culvert.benchmarks.result;

import java.util.Locale;

/**
 * Writes the elements of one inline SVG picture. Positions are in pixels from the top left. Inside HTML an
 * SVG element needs no namespace.
 */
final class Svg {
    private final Markup out;

    Svg(Markup out) {
        this.out = out;
    }

    /**
     * Begins a picture.
     *
     * @param id unique in the page
     * @param title its name
     * @param description in words what it shows
     */
    Svg open(String id, int width, int height, String title, String description) {
        out.open("svg", "class", "plot", "viewBox", "0 0 " + width + " " + height, "role", "img",
                "aria-labelledby", id + "-title " + id + "-desc");
        out.element("title", title, "id", id + "-title");
        out.element("desc", description, "id", id + "-desc");
        return this;
    }

    void close() {
        out.close().line();
    }

    void line(String cssClass, double x1, double y1, double x2, double y2) {
        out.empty("line", "class", cssClass, "x1", px(x1), "y1", px(y1), "x2", px(x2), "y2", px(y2));
    }

    /**
     * Writes one line of text.
     *
     * @param anchor start, middle or end: the part of the text at {@code x}
     */
    void text(String cssClass, String anchor, double x, double y, String text) {
        out.element("text", text, "class", cssClass, "text-anchor", anchor, "x", px(x), "y", px(y));
    }

    /** Draws a marker that shows its title under the mouse. */
    void marker(SeriesStyle style, double x, double y, double radius, String title) {
        out.open("path", "class", "marker " + style.cssClass(), "d", style.marker(x, y, radius))
                .element("title", title)
                .close();
    }

    void curve(SeriesStyle style, String path) {
        out.empty("path", "class", "curve " + style.cssClass(), "stroke-dasharray", style.dash(), "d", path);
    }

    /** A length or position. */
    static String px(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }

    /** Cuts a text that is too long for a picture; its end is in the tables. */
    static String shorten(String text, int length) {
        return text.codePointCount(0, text.length()) <= length
                ? text
                : text.substring(0, text.offsetByCodePoints(0, length - 1)) + "…";
    }
}
