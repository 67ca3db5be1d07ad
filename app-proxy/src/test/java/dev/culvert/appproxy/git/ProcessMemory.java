package dev.culvert.appproxy.git;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Watches the private memory of each process of Git that this one starts. */
final class ProcessMemory implements AutoCloseable {
    private static final String GIT = "Name:\tgit";
    private static final String THREAD = "Name:\tgit-backend-";
    private static final String FIELD = "RssAnon:";

    private volatile String largest = "";
    private final AtomicLong peak = new AtomicLong();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("process-memory").daemon().factory());

    ProcessMemory() {
        watch.scheduleWithFixedDelay(this::look, 0, 10, TimeUnit.MILLISECONDS);
    }

    private void look() {
        try (Stream<ProcessHandle> children = ProcessHandle.current().descendants()) {
            children.forEach(child -> {
                long kib = kib(child.pid());
                if (kib > peak.getAndAccumulate(kib, Math::max)) {
                    largest = child.info().commandLine().orElse("ended");
                }
            });
        }
    }

    private static long kib(long pid) {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "status"))) {
            List<String> all = lines.toList();
            // Until it runs Git, a new process has the name and the memory of the thread that starts it.
            String name = all.getFirst();
            return !name.startsWith(GIT) || name.startsWith(THREAD)
                    ? 0
                    : all.stream()
                            .filter(line -> line.startsWith(FIELD))
                            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                            .sum();
        } catch (IOException | UncheckedIOException ended) {
            return 0;
        }
    }

    /** The most that one process had. */
    long peakMiB() {
        return peak.get() >> 10;
    }

    /** The command of that process. */
    String largest() {
        return largest;
    }

    @Override
    public void close() {
        watch.shutdownNow();
    }
}
