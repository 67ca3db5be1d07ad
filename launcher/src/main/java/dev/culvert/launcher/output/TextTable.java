package dev.culvert.launcher.output;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Formats rows as columns that are as wide as their widest cell and fit the terminal. What is no character to
 * print becomes a question mark: peers name what is shown.
 */
public final class TextTable {
    private static final String GAP = "  ";
    /** A column is not cut below it, nor below its heading. */
    private static final int MIN = 6;
    /** A value is not folded to fewer columns; the terminal does it then. */
    private static final int MIN_VALUE = 20;

    private TextTable() {}

    /**
     * Rows below a heading, the first row. At a terminal that is narrower, the widest cells are cut; those of
     * the first column, which commands take as arguments, never.
     */
    public static String of(List<List<String>> rows) {
        return of(rows, Terminal.ofOutput());
    }

    /** Rows of a name and a value. At a terminal that is narrower, long values are folded at spaces. */
    public static String facts(List<List<String>> rows) {
        return facts(rows, Terminal.ofOutput());
    }

    static String of(List<List<String>> rows, Terminal terminal) {
        List<List<String>> cells = printable(rows);
        int[] widths = fitted(widths(cells), cells.getFirst(), terminal);
        List<String> lines = cells.stream().map(row -> line(row, widths)).toList();
        String heading = terminal.isColoured()
                ? "\u001b[1m" + lines.getFirst() + "\u001b[0m"
                : lines.getFirst();
        return lines.size() == 1
                ? heading
                : heading + "\n" + String.join("\n", lines.subList(1, lines.size()));
    }

    static String facts(List<List<String>> rows, Terminal terminal) {
        List<List<String>> cells = printable(rows);
        int[] widths = widths(cells);
        int indent = widths[0] + GAP.length();
        int room = total(widths) > MIN_VALUE ? terminal.width() - indent : Terminal.UNBOUNDED;
        return cells.stream()
                .map(row -> line(List.of(row.get(0), folded(row.get(1), room, indent)), widths))
                .collect(Collectors.joining("\n"));
    }

    private static List<List<String>> printable(List<List<String>> rows) {
        Function<String, String> plain = Printable::of;
        return rows.stream().map(row -> row.stream().map(plain).toList()).toList();
    }

    private static int[] widths(List<List<String>> rows) {
        return IntStream.range(0, rows.getFirst().size())
                .map(column -> rows.stream().mapToInt(row -> length(row.get(column))).max().orElse(0))
                .toArray();
    }

    private static int length(String cell) {
        return cell.codePointCount(0, cell.length());
    }

    private static int total(int[] widths) {
        return Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1);
    }

    /** Takes from the widest columns what is too much, as far as they can be cut. */
    private static int[] fitted(int[] widths, List<String> heading, Terminal terminal) {
        int[] fitted = widths.clone();
        int excess = total(widths) - terminal.width();
        while (excess > 0) {
            int widest = widest(fitted, heading);
            if (widest < 0) {
                return fitted;
            }
            fitted[widest]--;
            excess--;
        }
        return fitted;
    }

    /** The widest column that can be cut; -1 if there is none. */
    private static int widest(int[] widths, List<String> heading) {
        int widest = -1;
        for (int column = 1; column < widths.length; column++) {
            boolean cuttable = widths[column] > Math.max(MIN, length(heading.get(column)));
            if (cuttable && (widest < 0 || widths[column] > widths[widest])) {
                widest = column;
            }
        }
        return widest;
    }

    private static String line(List<String> row, int[] widths) {
        return IntStream.range(0, row.size())
                .mapToObj(column -> column == row.size() - 1 && row.get(column).contains("\n")
                        ? row.get(column)
                        : filled(row.get(column), widths[column]))
                .collect(Collectors.joining(GAP))
                .stripTrailing();
    }

    private static String filled(String cell, int width) {
        int length = length(cell);
        return length > width
                ? cell.substring(0, cell.offsetByCodePoints(0, width - 1)) + "…"
                : cell + " ".repeat(width - length);
    }

    private static String folded(String value, int room, int indent) {
        if (room < MIN_VALUE || length(value) <= room) {
            return value;
        }
        var lines = new StringBuilder();
        int used = 0;
        for (String word : value.split(" ", -1)) {
            if (used > 0 && used + 1 + length(word) > room) {
                lines.append('\n').append(" ".repeat(indent));
                used = 0;
            } else if (used > 0) {
                lines.append(' ');
                used++;
            }
            lines.append(word);
            used += length(word);
        }
        return lines.toString();
    }
}
