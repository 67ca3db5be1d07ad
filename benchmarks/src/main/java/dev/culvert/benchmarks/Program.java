package dev.culvert.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child process of the harness, which is ended by its pid. */
final class Program implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Process process;
    private final Path log;

    private Program(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts a program whose output goes to a file. */
    static Program start(Path log, List<String> command) {
        try {
            return new Program(
                    new ProcessBuilder(command).redirectErrorStream(true)
                            .redirectOutput(log.toFile())
                            .start(),
                    log);
        } catch (IOException e) {
            throw BenchException.unavailable(command.getFirst() + " can't be started: " + e.getMessage());
        }
    }

    /** Runs a program to its end and returns what it printed. */
    static String run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
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
    String await(String text) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (System.nanoTime() < end && process.isAlive()) {
                for (String line : Files.readAllLines(log)) {
                    if (line.contains(text)) {
                        return line;
                    }
                }
                process.waitFor(50, TimeUnit.MILLISECONDS);
            }
            throw BenchException.failed("no " + text + " in the output:\n" + Files.readString(log));
        } catch (IOException e) {
            throw BenchException.failed(log + ": " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    long pid() {
        return process.pid();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
