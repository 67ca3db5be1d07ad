package dev.culvert.benchmarks.process;

import java.util.ArrayList;
import java.util.List;

/** The scheduling policy of Linux for the measured programs. */
public enum Scheduling {
    /** SCHED_OTHER, the policy of all programs. */
    NORMAL("SCHED_OTHER"),
    /** SCHED_BATCH: a thread that wakes up does not preempt the running one. */
    BATCH("SCHED_BATCH (chrt --batch 0)");

    private final String description;

    Scheduling(String description) {
        this.description = description;
    }

    /** The policy, with the command that sets it, for the output. */
    public String description() {
        return description;
    }

    /** The command that runs another one with this policy. Its process is that of the other command. */
    public List<String> apply(List<String> command) {
        List<String> all = new ArrayList<>(this == BATCH ? List.of("chrt", "--batch", "0") : List.of());
        all.addAll(command);
        return all;
    }
}
