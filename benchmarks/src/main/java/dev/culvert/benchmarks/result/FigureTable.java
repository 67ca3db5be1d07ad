package dev.culvert.benchmarks.result;

import java.util.Map;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/** Writes the tables of a page whose columns are figures and whose rows are targets. */
final class FigureTable {
    private final Markup out;
    private final Map<String, SeriesStyle> styles;

    FigureTable(Markup out, Map<String, SeriesStyle> styles) {
        this.out = out;
        this.styles = styles;
    }

    /** Begins a table that scrolls by itself where the page is narrow, with a heading for each figure. */
    void open(String caption, String corner) {
        out.open("div", "class", "scroll", "tabindex", "0", "role", "region", "aria-label", caption);
        out.open("table").element("caption", caption).open("thead").open("tr");
        out.element("th", corner, "scope", "col");
        for (Figure figure : Figure.values()) {
            out.element("th", figure.label(), "scope", "col", "class", "number");
        }
        out.close().close().line();
    }

    void close() {
        out.close().close().line();
    }

    /** Writes a row of medians, each with its ratio to the baseline. */
    void values(TargetRuns target) {
        openRow(target);
        for (Figure figure : Figure.values()) {
            out.open("td", "class", "number").text(figure.median(target.values(figure)));
            ratio(figure, target.ratios(figure), "ratio");
            out.close();
        }
        out.close().line();
    }

    /** Writes a row of ratios to the baseline. */
    void ratios(TargetRuns target) {
        openRow(target);
        for (Figure figure : Figure.values()) {
            Spread ratios = target.ratios(figure);
            out.open("td", "class", "number");
            if (ratios == null) {
                out.text(Numbers.NONE);
            } else {
                ratio(figure, ratios, "ratio main");
            }
            out.close();
        }
        out.close().line();
    }

    /** Writes a row with the largest median of a start divided by the smallest. */
    void startSpreads(TargetRuns target) {
        openRow(target);
        for (Figure figure : Figure.values()) {
            OptionalDouble spread = target.startSpread(figure);
            out.element("td", Numbers.ratio(spread), "class", "number");
        }
        out.close().line();
    }

    private void openRow(TargetRuns target) {
        out.open("tr").open("th", "scope", "row");
        swatch(out, styles.getOrDefault(target.target(), new SeriesStyle(0)));
        out.text(target.target()).close();
    }

    private void ratio(Figure figure, @Nullable Spread ratios, String cssClass) {
        if (ratios == null) {
            return;
        }
        out.text(" ").open("span", "class", cssClass);
        switch (figure.verdict(ratios)) {
            case BETTER -> verdict("better", "▲", ratios);
            case WORSE -> verdict("worse", "▼", ratios);
            case UNCLEAR -> out.text(Numbers.ratio(ratios.median()));
        }
        if (ratios.count() > 1) {
            out.text(" ").element("span", "(" + Numbers.range(ratios) + ")", "class", "range");
        }
        out.close();
    }

    /** The sign is for eyes, the word for screen readers; neither needs the colour. */
    private void verdict(String word, String sign, Spread ratios) {
        out.open("b", "class", word);
        out.element("span", sign, "aria-hidden", "true").element("span", word + ": ", "class", "spoken");
        out.text(Numbers.ratio(ratios.median())).close();
    }

    /** Writes the line and the marker of a target as they are in the plots. */
    static void swatch(Markup out, SeriesStyle style) {
        out.open("svg", "class", "swatch", "viewBox", "0 0 30 12", "aria-hidden", "true");
        out.empty("path", "class", "curve " + style.cssClass(), "stroke-dasharray", style.dash(), "d",
                "M1 6H29");
        out.empty("path", "class", "marker " + style.cssClass(), "d", style.marker(15, 6, 4));
        out.close();
    }
}
