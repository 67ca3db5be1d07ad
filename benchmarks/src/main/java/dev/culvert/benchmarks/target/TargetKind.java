package dev.culvert.benchmarks.target;

import java.io.IOException;
import java.util.List;

/** A kind of target, which can be started any number of times. Its targets share nothing. */
public interface TargetKind {
    /** The name in scenario files, tables and results. */
    String name();

    /** The programs that it needs: names that are looked for on the PATH, or paths. */
    default List<String> programs() {
        return List.of();
    }

    /** The versions of its programs, in one line, for the result; empty if unknown. May run them. */
    default String version() {
        return "";
    }

    /**
     * Starts a target. Returns when its listeners accept connections. Blocking.
     *
     * @throws dev.culvert.benchmarks.process.BenchException if one of its programs fails
     */
    Target start(Testbed bed, Upstream upstream) throws IOException;
}
