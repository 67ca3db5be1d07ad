package dev.culvert.launcher.admin;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Formats rows as columns that are as wide as their widest cell. The first row is the heading. */
public final class TextTable {
    private TextTable() {}

    public static String of(List<List<String>> rows) {
        int[] widths = IntStream.range(0, rows.getFirst().size())
                .map(column -> rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0))
                .toArray();
        return rows.stream().map(row -> line(row, widths)).collect(Collectors.joining("\n"));
    }

    private static String line(List<String> row, int[] widths) {
        return IntStream.range(0, row.size())
                .mapToObj(column -> row.get(column) + " ".repeat(widths[column] - row.get(column).length()))
                .collect(Collectors.joining("  "))
                .stripTrailing();
    }
}
