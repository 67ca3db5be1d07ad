package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.BenchException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The targets of a comparison whose programs are present.
 *
 * @param kinds in the order in which they were listed
 * @param skipped a line for each one that is left out, with the reason
 */
public record TargetChoice(List<TargetKind> kinds, List<String> skipped) {
    public TargetChoice {
        kinds = List.copyOf(kinds);
        skipped = List.copyOf(skipped);
    }

    /** All of the list whose programs are present; the others are skipped. */
    public static TargetChoice available(List<TargetKind> list, Predicate<String> present) {
        List<TargetKind> kinds = new ArrayList<>();
        List<String> skipped = new ArrayList<>();
        for (TargetKind kind : list) {
            List<String> missing = missing(kind, present);
            if (missing.isEmpty()) {
                kinds.add(kind);
            } else {
                skipped.add(kind.name() + " needs " + String.join(", ", missing)
                        + " (expected: on the PATH, or an executable file)");
            }
        }
        return new TargetChoice(kinds, skipped);
    }

    /**
     * All of the list, which was asked for by name.
     *
     * @throws BenchException that names the programs that are missing
     */
    public static TargetChoice asked(List<TargetKind> list, Predicate<String> present) {
        TargetChoice choice = available(list, present);
        if (!choice.skipped.isEmpty()) {
            throw BenchException.unavailable(String.join("\n", choice.skipped));
        }
        return choice;
    }

    private static List<String> missing(TargetKind kind, Predicate<String> present) {
        return kind.programs().stream().filter(present.negate()).toList();
    }
}
