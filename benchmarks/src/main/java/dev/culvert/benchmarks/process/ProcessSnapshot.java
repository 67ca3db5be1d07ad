package dev.culvert.benchmarks.process;

import dev.culvert.benchmarks.result.Usage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * What processes and their threads have used since they began, from /proc, at one time. The difference of two
 * is the usage between them.
 */
public final class ProcessSnapshot {
    /** The length of a tick that Linux reports: USER_HZ is 100 on all supported architectures. */
    private static final long MICROS_PER_TICK = 10_000;
    private static final long BYTES_PER_KB = 1024;
    private static final Path PROC = Path.of("/proc");

    /** CPU time by pid, in ticks. It includes the threads that have ended. */
    private final Map<Long, Long> ticks = new HashMap<>();
    /** By thread id, which is unique on the machine. */
    private final Map<String, ThreadTimes> threads = new HashMap<>();
    private final Set<Long> roots;
    private long rssBytes;

    private ProcessSnapshot(Collection<Long> roots) {
        this.roots = Set.copyOf(roots);
    }

    /** Takes a snapshot of processes and all of their descendants. A process that has ended is left out. */
    public static ProcessSnapshot of(Collection<Long> roots) {
        Set<Long> pids = new LinkedHashSet<>(roots);
        for (long root : roots) {
            ProcessHandle.of(root)
                    .ifPresent(
                            parent -> parent.descendants().forEach(child -> pids.add(child.pid())));
        }
        return read(PROC, roots, pids);
    }

    static ProcessSnapshot read(Path proc, Collection<Long> roots, Collection<Long> pids) {
        var snapshot = new ProcessSnapshot(roots);
        for (long pid : pids) {
            Path process = proc.resolve(Long.toString(pid));
            String stat = text(process.resolve("stat"));
            if (!stat.isEmpty()) {
                snapshot.ticks.put(pid, ThreadTimes.ticks(stat));
                snapshot.rssBytes += ThreadTimes.number(text(process.resolve("status")), "VmRSS")
                        * BYTES_PER_KB;
                snapshot.readThreads(process.resolve("task"));
            }
        }
        return snapshot;
    }

    /**
     * The usage since an earlier snapshot of the same processes. The times of threads by name, and the
     * context switches, leave out threads that have ended in between.
     *
     * @throws BenchException if one of the processes has ended
     */
    public Usage since(ProcessSnapshot earlier) {
        for (long root : roots) {
            if (!ticks.containsKey(root)) {
                throw BenchException.failed("the measured process " + root + " has ended");
            }
        }
        long used = 0;
        for (Map.Entry<Long, Long> process : ticks.entrySet()) {
            used += process.getValue() - earlier.ticks.getOrDefault(process.getKey(), 0L);
        }
        return new Usage(used * MICROS_PER_TICK,
                ticksSince(earlier, ThreadTimes::isCompiler) * MICROS_PER_TICK,
                ticksSince(earlier, ThreadTimes::isCollector) * MICROS_PER_TICK, switchesSince(earlier),
                rssBytes);
    }

    private long ticksSince(ProcessSnapshot earlier, Predicate<ThreadTimes> chosen) {
        long sum = 0;
        for (Map.Entry<String, ThreadTimes> thread : threads.entrySet()) {
            if (chosen.test(thread.getValue())) {
                ThreadTimes before = earlier.threads.get(thread.getKey());
                sum += thread.getValue().ticks() - (before == null ? 0 : before.ticks());
            }
        }
        return sum;
    }

    private long switchesSince(ProcessSnapshot earlier) {
        long sum = 0;
        for (Map.Entry<String, ThreadTimes> thread : threads.entrySet()) {
            ThreadTimes before = earlier.threads.get(thread.getKey());
            sum += thread.getValue().switches() - (before == null ? 0 : before.switches());
        }
        return sum;
    }

    private void readThreads(Path tasks) {
        try (Stream<Path> found = Files.list(tasks)) {
            for (Path thread : found.toList()) {
                String stat = text(thread.resolve("stat"));
                if (!stat.isEmpty()) {
                    threads.put(tasks.relativize(thread).toString(),
                            ThreadTimes.parse(stat, text(thread.resolve("status"))));
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // The process has ended since its pid was listed; since() reports it if that matters.
        }
    }

    /** Reads a file; empty if the thread or process ended between listing and reading. */
    static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
