package dev.culvert.benchmarks.process;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/** The scheduling policy of Linux for the measured programs. */
public enum Scheduling {
    /** SCHED_OTHER, the policy of all programs. */
    NORMAL("SCHED_OTHER", 0),
    /** SCHED_BATCH: a thread that wakes up does not preempt the running one. */
    BATCH("SCHED_BATCH (chrt --batch 0)", 3);

    /** proc(5): the policy is field 41 of a stat line; field 3, the state, is the first after the name. */
    private static final int FIELD = 41 - 3;

    private final String description;
    /** Linux's number, from sched.h. */
    private final int number;

    Scheduling(String description, int number) {
        this.description = description;
        this.number = number;
    }

    /** The policy, with the command that sets it, for the output. */
    public String description() {
        return description;
    }

    /**
     * Checks that all threads of processes, and of their descendants, have this policy.
     *
     * @param target of the processes, for the message
     * @throws BenchException if a thread has another one, or if one of the processes has ended
     */
    public void require(String target, Collection<Long> processes) {
        for (long root : processes) {
            ProcessHandle parent = ProcessHandle.of(root)
                    .orElseThrow(() -> BenchException.failed(target + ": process " + root + " has ended"));
            Stream.concat(Stream.of(parent), parent.descendants())
                    .flatMap(process -> stats(Path.of("/proc/" + process.pid() + "/task")).stream())
                    .filter(stat -> policy(stat) != number)
                    .findFirst()
                    .ifPresent(stat -> {
                        throw BenchException.failed(target + ": the thread "
                                + stat.substring(0, stat.lastIndexOf(')') + 1) + " has the scheduling policy "
                                + policy(stat) + " (expected: " + number + ", " + description + ")");
                    });
        }
    }

    private static int policy(String stat) {
        return Integer.parseInt(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[FIELD]);
    }

    /** The stat lines of the threads of a process. A thread that ends meanwhile is left out. */
    private static List<String> stats(Path tasks) {
        List<String> stats = new ArrayList<>();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                String stat = ProcessSnapshot.text(thread.resolve("stat"));
                if (!stat.isEmpty()) {
                    stats.add(stat);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return stats; // the process has ended since it was listed
        }
        return stats;
    }

    /** The command that runs another one with this policy. Its process is that of the other command. */
    public List<String> apply(List<String> command) {
        List<String> all = new ArrayList<>(this == BATCH ? List.of("chrt", "--batch", "0") : List.of());
        all.addAll(command);
        return all;
    }
}
