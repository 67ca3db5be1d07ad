package dev.culvert.benchmarks.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * The cells of one or more result files, grouped by load and target. Ratios to the baseline are made of
 * pairs: two cells of the same file, start and round, which ran next to each other, so that a slow machine
 * slows down both.
 */
public final class Comparison {
    private final List<ResultFile> files;
    private final String baseline;
    private final List<String> targets;
    private final List<LoadGroup> groups;

    private Comparison(List<ResultFile> files, String baseline) {
        this.files = List.copyOf(files);
        this.baseline = baseline;
        this.targets = List.copyOf(targets(files));
        Map<LoadKey, Map<String, Map<RoundKey, Cell>>> cells = group(files);
        List<LoadGroup> found = new ArrayList<>();
        cells.forEach((load, byTarget) -> found.add(LoadGroup.of(load, baseline, byTarget)));
        this.groups = List.copyOf(found);
    }

    /**
     * Groups the cells of result files.
     *
     * @param files one or more
     * @param baseline the target that ratios are to; null for that of the files, which must agree then
     * @throws IllegalArgumentException if the files have different baselines and none is given, and if a file
     *     has two cells of the same target, load, start and round
     */
    public static Comparison of(List<ResultFile> files, @Nullable String baseline) {
        return new Comparison(files, baseline == null ? commonBaseline(files) : baseline);
    }

    /** The targets of the files, in the order of the files. */
    public static SequencedSet<String> targets(List<ResultFile> files) {
        SequencedSet<String> targets = new LinkedHashSet<>();
        files.forEach(file -> file.result().cells().forEach(cell -> targets.add(cell.target())));
        return targets;
    }

    List<ResultFile> files() {
        return files;
    }

    String baseline() {
        return baseline;
    }

    /** All targets. The position of a target is the same in all tables and plots, and so is its colour. */
    List<String> targets() {
        return targets;
    }

    /** In the order of the files. */
    List<LoadGroup> groups() {
        return groups;
    }

    private static String commonBaseline(List<ResultFile> files) {
        ResultFile first = files.getFirst();
        for (ResultFile file : files) {
            if (!file.result().baseline().equals(first.result().baseline())) {
                throw new IllegalArgumentException(first.name() + " has the baseline "
                        + first.result().baseline() + " and " + file.name() + " has "
                        + file.result().baseline() + "; choose one with --baseline");
            }
        }
        return first.result().baseline();
    }

    private static Map<LoadKey, Map<String, Map<RoundKey, Cell>>> group(List<ResultFile> files) {
        Map<LoadKey, Map<String, Map<RoundKey, Cell>>> groups = new LinkedHashMap<>();
        for (int i = 0; i < files.size(); i++) {
            ResultFile file = files.get(i);
            for (Cell cell : file.result().cells()) {
                RoundKey at = RoundKey.of(i + 1, cell);
                Cell other = groups.computeIfAbsent(LoadKey.of(cell), load -> new LinkedHashMap<>())
                        .computeIfAbsent(cell.target(), target -> new LinkedHashMap<>())
                        .putIfAbsent(at, cell);
                if (other != null) {
                    throw new IllegalArgumentException(file.name() + ": two cells of " + cell.target()
                            + " for " + LoadKey.of(cell).label() + ", start " + cell.start() + ", round "
                            + cell.round() + " (expected: one)");
                }
            }
        }
        return groups;
    }
}
