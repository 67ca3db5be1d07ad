package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.ProcessSnapshot;
import java.net.URI;
import java.util.List;

/**
 * A running way to the upstream. Its processes end with the {@link Testbed} in which it was started.
 *
 * @param name the name in tables and results, such as "nginx2"
 * @param base the URL below which the upstream's paths are, such as {@code https://127.0.0.1:8443}
 * @param host the Host field of requests, or empty for the URL's
 * @param processes the pids of the processes that are measured, each with its descendants
 */
public record Target(String name, URI base, String host, List<Long> processes) {
    public Target {
        processes = List.copyOf(processes);
    }

    /** The URL of a resource of the upstream, such as {@code /bytes/1048576}. */
    public URI url(String path) {
        String start = base.toString();
        return URI.create((start.endsWith("/") ? start.substring(0, start.length() - 1) : start) + path);
    }

    /** What its processes have used since they began. */
    public ProcessSnapshot snapshot() {
        return ProcessSnapshot.of(processes);
    }
}
