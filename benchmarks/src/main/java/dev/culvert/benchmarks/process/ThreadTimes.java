package dev.culvert.benchmarks.process;

import java.util.List;

/**
 * The usage of one thread since its begin, from its files {@code stat} and {@code status} in /proc.
 *
 * @param name the first 15 bytes of the thread's name
 * @param ticks user and system CPU time, in ticks of 10 ms
 * @param switches voluntary and involuntary context switches
 */
record ThreadTimes(String name, long ticks, long switches) {
    private static final List<String> COMPILERS = List.of("C1 Comp", "C2 Comp");
    /** Parallel workers and G1's own threads. The serial collector runs in "VM Thread", which does more. */
    private static final List<String> COLLECTORS = List.of("GC Thread", "G1 ");

    static ThreadTimes parse(String stat, String status) {
        return new ThreadTimes(stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')')), ticks(stat),
                number(status, "voluntary_ctxt_switches") + number(status, "nonvoluntary_ctxt_switches"));
    }

    /** Whether it is one of HotSpot's compiler threads. */
    boolean isCompiler() {
        return COMPILERS.stream().anyMatch(name::startsWith);
    }

    /** Whether it is one of HotSpot's garbage collector threads. */
    boolean isCollector() {
        return COLLECTORS.stream().anyMatch(name::startsWith);
    }

    /**
     * The ticks of a stat line of a thread or process. proc(5): utime and stime are fields 14 and 15; the
     * name in field 2 may contain blanks and parentheses.
     */
    static long ticks(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    /** The number in the line {@code key: number} of a status file; 0 if the line is missing. */
    static long number(String status, String key) {
        for (String line : status.lines().toList()) {
            if (line.startsWith(key + ":")) {
                String[] words = line.substring(key.length() + 1).strip().split(" ", -1);
                return Long.parseLong(words[0]);
            }
        }
        return 0;
    }
}
