package dev.culvert.benchmarks.result;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Builds HTML and SVG that is well-formed XML, too. Text and values of attributes are escaped; names of
 * elements and attributes are not and must be constants. Attributes are names and values in turn.
 */
final class Markup {
    private static final int REPLACEMENT = 0xFFFD;

    private final StringBuilder out = new StringBuilder(1 << 16);
    private final Deque<String> open = new ArrayDeque<>();

    /** Begins an element. */
    Markup open(String name, String... attributes) {
        begin(name, attributes);
        out.append('>');
        open.push(name);
        return this;
    }

    /** Ends the element that was begun last. */
    Markup close() {
        String name = open.pop();
        out.append("</").append(name).append('>');
        return this;
    }

    /** An element without content: one of SVG, or one that HTML keeps empty, such as {@code meta}. */
    Markup empty(String name, String... attributes) {
        begin(name, attributes);
        out.append("/>");
        return this;
    }

    /** An element with text alone. */
    Markup element(String name, String text, String... attributes) {
        return open(name, attributes).text(text).close();
    }

    Markup text(String text) {
        text.codePoints().forEach(this::escape);
        return this;
    }

    /** Ends a line, which only people notice who read the source. */
    Markup line() {
        out.append('\n');
        return this;
    }

    /** The markup. All elements must be closed. */
    @Override
    public String toString() {
        if (!open.isEmpty()) {
            throw new IllegalStateException("not closed: " + open);
        }
        return out.toString();
    }

    private void begin(String name, String... attributes) {
        out.append('<').append(name);
        for (int i = 0; i < attributes.length; i += 2) {
            out.append(' ').append(attributes[i]).append("=\"");
            text(attributes[i + 1]);
            out.append('"');
        }
    }

    private void escape(int character) {
        switch (character) {
            case '&' -> out.append("&amp;");
            case '<' -> out.append("&lt;");
            case '>' -> out.append("&gt;");
            case '"' -> out.append("&quot;");
            case '\'' -> out.append("&#39;");
            default -> out.appendCodePoint(isXml(character) ? character : REPLACEMENT);
        }
    }

    /** XML 1.0 §2.2 has no control characters but these, no surrogates, nor U+FFFE and U+FFFF. */
    private static boolean isXml(int character) {
        return character >= ' '
                ? !Character.isISOControl(character)
                        && (character < Character.MIN_SURROGATE || character > Character.MAX_SURROGATE)
                        && character != 0xFFFE && character != 0xFFFF
                : character == '\n' || character == '\t';
    }
}
