package dev.culvert.benchmarks.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A child process of the harness, which is ended by its pid, together with its own children. */
public final class Program implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int POLL_MILLIS = 50;
    /** The time for an orderly end, after which a process is killed. */
    private static final int END_SECONDS = 5;

    private final Process process;
    private final Path log;

    private Program(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /**
     * Finds an executable file: a name in the folders of the variable PATH, or a path. Null if there is none.
     */
    public static @Nullable Path find(String name) {
        if (name.indexOf(File.separatorChar) >= 0) {
            return isExecutable(Path.of(name)) ? Path.of(name) : null;
        }
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name))
                .filter(Program::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** Removes the user's variables for Culvert, which would change what is measured. */
    static void clean(Map<String, String> environment) {
        environment.keySet().removeIf(name -> name.startsWith("CULVERT_"));
    }

    private static ProcessBuilder builder(List<String> command) {
        ProcessBuilder builder = new ProcessBuilder(command);
        clean(builder.environment());
        return builder;
    }

    /** Starts a program whose output goes to a file. */
    public static Program start(Path log, List<String> command) {
        try {
            return new Program(
                    builder(command).redirectErrorStream(true)
                            .redirectOutput(log.toFile())
                            .start(),
                    log);
        } catch (IOException e) {
            throw BenchException.unavailable(command.getFirst() + " can't be started: " + e.getMessage());
        }
    }

    /** Runs a program to its end and returns what it printed. */
    public static String run(List<String> command) {
        try {
            Process process = builder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw BenchException
                        .failed(command.getFirst() + " … " + command.getLast() + " failed:\n" + output);
            }
            return output;
        } catch (IOException e) {
            throw BenchException.unavailable(command.getFirst() + " can't be started: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    /** Waits until the output contains a text. Returns the line. */
    public String await(String text) {
        return await(() -> lineWith(text), "no " + text + " in the output");
    }

    /** Waits until a listener accepts connections to a port of 127.0.0.1. */
    public void awaitPort(int port) {
        await(() -> Ports.accepts(port) ? "" : null, "no listener on port " + port + "; the output");
    }

    /** Waits until the output contains as many lines that begin with a text. */
    public void awaitLines(String start, int count, Duration patience) {
        await(() -> output().lines().filter(line -> line.startsWith(start)).count() >= count ? "" : null,
                "not " + count + " lines that begin with " + start + " in the output", patience);
    }

    public long pid() {
        return process.pid();
    }

    /**
     * Ends the program, and waits until it has ended by itself.
     *
     * @throws BenchException if that takes longer
     */
    public void end(Duration patience) throws InterruptedException {
        process.destroy();
        if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw BenchException
                    .failed("a program did not end within " + patience.toSeconds() + " s:\n" + output());
        }
    }

    @Override
    public void close() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroy();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor(END_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        children.forEach(ProcessHandle::destroyForcibly);
    }

    private static boolean isExecutable(Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }

    private String await(Supplier<@Nullable String> look, String failure) {
        return await(look, failure, PATIENCE);
    }

    private String await(Supplier<@Nullable String> look, String failure, Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        try {
            while (System.nanoTime() < end) {
                boolean alive = process.isAlive();
                String found = look.get();
                if (found != null) {
                    return found;
                } else if (!alive) {
                    break;
                }
                process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
            }
            throw BenchException.failed(failure + ":\n" + output());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    private @Nullable String lineWith(String text) {
        return output().lines().filter(line -> line.contains(text)).findFirst().orElse(null);
    }

    private String output() {
        try {
            return new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw BenchException.failed(log + ": " + e.getMessage());
        }
    }
}
