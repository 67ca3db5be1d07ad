package dev.culvert.relay.observe;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The newest problems, shared fairly. When it is full, the runtime that holds the most bytes gives way, and
 * within it the caller that holds the most, with its oldest problem. So a flood of one runtime or caller
 * replaces its own problems. Not safe for use by several threads.
 */
final class ProblemRing {
    static final int MAX_BYTES = 1 << 20;
    /** The bound of one runtime, and of all hosts without a runtime together. */
    static final int MAX_RUNTIME_BYTES = MAX_BYTES / 8;
    private static final int STEP = 1024;

    private final Map<String, OfRuntime> runtimes = new HashMap<>();
    /** The runtimes by their bytes in steps; within a step the one whose last problem is oldest is first. */
    private final List<LinkedHashSet<OfRuntime>> bySize = new ArrayList<>();
    private long bytes;

    ProblemRing() {
        for (int i = 0; i <= MAX_RUNTIME_BYTES / STEP; i++) {
            bySize.add(new LinkedHashSet<>());
        }
    }

    void add(KeptRequest problem) {
        OfRuntime of = runtimes.computeIfAbsent(problem.request().runtime(), OfRuntime::new);
        unlist(of);
        bytes += problem.bytes() - of.add(problem);
        list(of);
        while (bytes > MAX_BYTES) {
            OfRuntime largest = largest();
            unlist(largest);
            bytes -= largest.evict();
            list(largest);
        }
    }

    /** All problems, newest first. */
    List<KeptRequest> newestFirst() {
        List<KeptRequest> all = new ArrayList<>();
        runtimes.values().forEach(of -> of.addTo(all));
        all.sort((one, other) -> Long.compare(other.number(), one.number()));
        return all;
    }

    long bytes() {
        return bytes;
    }

    private OfRuntime largest() {
        int step = bySize.size() - 1;
        while (bySize.get(step).isEmpty()) {
            step--;
        }
        return bySize.get(step).getFirst();
    }

    private void unlist(OfRuntime of) {
        bySize.get(of.bytes / STEP).remove(of);
    }

    private void list(OfRuntime of) {
        if (of.bytes == 0) {
            runtimes.remove(of.name);
        } else {
            bySize.get(of.bytes / STEP).add(of);
        }
    }

    /** The problems of one runtime. */
    private static final class OfRuntime {
        private final String name;
        private final Map<String, OfCaller> callers = new HashMap<>();
        private int bytes;

        OfRuntime(String name) {
            this.name = name;
        }

        /** Returns the number of bytes that were evicted for it. */
        int add(KeptRequest problem) {
            OfCaller of = callers.computeIfAbsent(source(problem.request().caller()), any -> new OfCaller());
            of.problems.add(problem);
            of.bytes += problem.bytes();
            bytes += problem.bytes();
            int evicted = 0;
            while (bytes > MAX_RUNTIME_BYTES) {
                evicted += evict();
            }
            return evicted;
        }

        /** Evicts one problem. Returns its bytes. */
        int evict() {
            Map.Entry<String, OfCaller> largest = null;
            for (Map.Entry<String, OfCaller> each : callers.entrySet()) {
                if (largest == null || each.getValue().isAhead(largest.getValue())) {
                    largest = each;
                }
            }
            if (largest == null) {
                return 0;
            }
            OfCaller of = largest.getValue();
            int evicted = of.problems.remove().bytes();
            of.bytes -= evicted;
            bytes -= evicted;
            if (of.problems.isEmpty()) {
                callers.remove(largest.getKey());
            }
            return evicted;
        }

        void addTo(Collection<KeptRequest> all) {
            callers.values().forEach(of -> all.addAll(of.problems));
        }

        /** A host can use any address of its /64, so these count as one caller. */
        private static String source(String caller) {
            int end = -1;
            for (int colons = 0; colons < 4; colons++) {
                end = caller.indexOf(':', end + 1);
                if (end < 0) {
                    return caller;
                }
            }
            return caller.substring(0, end);
        }
    }

    /** The problems of one caller of a runtime, oldest first. */
    private static final class OfCaller {
        private final ArrayDeque<KeptRequest> problems = new ArrayDeque<>(2);
        private int bytes;

        /** Whether it gives way before another one: it has more, or as much and older problems. */
        boolean isAhead(OfCaller other) {
            return bytes > other.bytes || (bytes == other.bytes && oldest() < other.oldest());
        }

        private long oldest() {
            return Objects.requireNonNull(problems.peek()).number();
        }
    }
}
