package dev.culvert.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * The user and system CPU time of processes, from /proc.
 *
 * @param totalMicros the time of all threads, including ended ones
 * @param jitMicros the time of the JVM's compiler threads
 */
record Cpu(long totalMicros, long jitMicros) {
    /** The length of a tick that Linux reports: USER_HZ is 100 on all supported architectures. */
    private static final long MICROS_PER_TICK = 10_000;
    private static final Path PROC = Path.of("/proc");

    static Cpu of(Collection<Long> pids) {
        long total = 0;
        long jit = 0;
        for (long pid : pids) {
            Path process = PROC.resolve(Long.toString(pid));
            total += ticks(read(process.resolve("stat")));
            jit += jitTicks(process.resolve("task"));
        }
        return new Cpu(total * MICROS_PER_TICK, jit * MICROS_PER_TICK);
    }

    private static long jitTicks(Path tasks) {
        long ticks = 0;
        try (Stream<Path> threads = Files.list(tasks)) {
            for (Path thread : threads.toList()) {
                String stat = read(thread.resolve("stat"));
                ticks += isCompiler(stat) ? ticks(stat) : 0;
            }
        } catch (IOException e) {
            throw BenchException.failed("a measured process ended: " + e.getMessage());
        }
        return ticks;
    }

    /** Whether a thread's stat line belongs to HotSpot's C1 or C2. */
    static boolean isCompiler(String stat) {
        int name = stat.indexOf('(') + 1;
        return stat.startsWith("C1 Comp", name) || stat.startsWith("C2 Comp", name);
    }

    /**
     * The ticks of a stat line. proc(5): utime and stime are fields 14 and 15; the name in field 2 may
     * contain blanks and parentheses.
     */
    static long ticks(String stat) {
        if (stat.isEmpty()) {
            return 0;
        }
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    /** A process and its children. */
    static List<Long> tree(long pid) {
        List<Long> pids = new ArrayList<>(List.of(pid));
        ProcessHandle.of(pid)
                .ifPresent(parent -> parent.descendants().forEach(child -> pids.add(child.pid())));
        return pids;
    }

    Cpu minus(Cpu earlier) {
        return new Cpu(totalMicros - earlier.totalMicros, Math.max(0, jitMicros - earlier.jitMicros));
    }

    /** Reads a file; empty if the thread ended between listing and reading. */
    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "";
        }
    }
}
