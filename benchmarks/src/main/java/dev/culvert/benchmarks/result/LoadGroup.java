package dev.culvert.benchmarks.result;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The targets under one load.
 *
 * @param baseline the target that ratios are to; it may be absent from {@code targets}
 * @param targets one or more, in the order of the result files
 */
record LoadGroup(LoadKey load, String baseline, List<TargetRuns> targets) {

    /** Pairs each cell with the baseline's cell of the same round. */
    static LoadGroup of(LoadKey load, String baseline, Map<String, Map<RoundKey, Cell>> byTarget) {
        Map<RoundKey, Cell> partners = byTarget.getOrDefault(baseline, Map.of());
        List<TargetRuns> targets = new ArrayList<>();
        byTarget.forEach((target, cells) -> {
            boolean isBaseline = target.equals(baseline);
            List<PairedCell> paired = new ArrayList<>();
            cells.forEach((at, cell) -> paired.add(
                    new PairedCell(at, cell, isBaseline ? null : partners.get(at))));
            targets.add(new TargetRuns(target, isBaseline, List.copyOf(paired)));
        });
        return new LoadGroup(load, baseline, List.copyOf(targets));
    }

    boolean hasBaseline() {
        return targets.stream().anyMatch(TargetRuns::baseline);
    }

    /** Whether some target was started at least twice, so that its starts can be compared. */
    boolean hasStartSpread() {
        return targets.stream()
                .anyMatch(
                        target -> target.startSpread(Figure.REQUESTS_PER_SECOND).isPresent());
    }

    /** What a reader of the tables has to know: errors by reason, and cells without a partner. */
    List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (!hasBaseline()) {
            notes.add("There are no ratios: no cell of " + baseline + ".");
        }
        for (TargetRuns target : targets) {
            addNote(notes, missingPartners(target));
            addNote(notes, errors(target));
        }
        return notes;
    }

    private static void addNote(List<String> notes, @Nullable String note) {
        if (note != null) {
            notes.add(note);
        }
    }

    private @Nullable String missingPartners(TargetRuns target) {
        int all = target.cells().size();
        int missing = all - target.pairs();
        return missing == 0 || target.baseline() || !hasBaseline()
                ? null
                : target.target() + ": " + missing + " of " + all + " cells have no ratio, because "
                        + baseline + " was not measured in the same start and round.";
    }

    private static @Nullable String errors(TargetRuns target) {
        Map<String, Long> errors = target.errors();
        long sum = errors.values().stream().mapToLong(Long::longValue).sum();
        return sum == 0
                ? null
                : target.target() + ": " + sum + (sum == 1 ? " error" : " errors") + " in all cells ("
                        + errors.entrySet()
                                .stream()
                                .map(error -> error.getKey() + " " + error.getValue())
                                .collect(Collectors.joining(", "))
                        + ").";
    }
}
