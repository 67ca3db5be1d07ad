package dev.culvert.platform.triggers.hermes;

import java.util.List;

/**
 * What became of something that happened.
 *
 * @param runs what it starts, or has started when it was delivered first
 * @param refusals why it starts nothing else, one line each
 * @param isRepeated whether it was delivered before
 */
public record Outcome(List<Run> runs, List<String> refusals, boolean isRepeated) {
    public Outcome {
        runs = List.copyOf(runs);
        refusals = List.copyOf(refusals);
    }

    /** What became of several things that happened. */
    public static Outcome of(List<Outcome> outcomes) {
        return new Outcome(outcomes.stream().flatMap(outcome -> outcome.runs.stream()).toList(),
                outcomes.stream().flatMap(outcome -> outcome.refusals.stream()).toList(),
                !outcomes.isEmpty() && outcomes.stream().allMatch(Outcome::isRepeated));
    }

    /** A run that it starts. */
    public record Run(String id, String pipeline) {}
}
