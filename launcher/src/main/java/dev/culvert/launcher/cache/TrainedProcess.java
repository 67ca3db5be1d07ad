package dev.culvert.launcher.cache;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.config.Reason;
import dev.culvert.launcher.output.JsonTree;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A process of this installation, with the events that it printed. Killed when it is closed; its standard
 * input stays open until then, and tells it that this process is there.
 */
final class TrainedProcess implements AutoCloseable {
    /** Of a start, and of an end with the assembly of a cache, on a machine with much else to do. */
    private static final int PATIENCE_SECONDS = 180;
    private static final String EVENT = "{\"event\":\"";

    private final Process process;
    private final Map<String, CompletableFuture<JsonNode>> events = new HashMap<>();
    private final Thread reader;
    private volatile String lastLine = "it printed nothing";

    private TrainedProcess(Process process) {
        this.process = process;
        this.reader = Thread.ofVirtual().start(this::read);
    }

    static TrainedProcess start(Path folder, List<String> command) {
        var builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("CULVERT_"));
        try {
            return new TrainedProcess(builder.start());
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILED,
                    command.getFirst() + " can't be started: " + Reason.of(e));
        }
    }

    /** Waits for an event, and returns its line. */
    JsonNode await(String event) throws InterruptedException {
        try {
            return event(event).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new CommandException(ExitCode.FAILED, "no event " + event + ": " + lastLine);
        }
    }

    /** Ends it as an operator would, and waits until it has ended. */
    void stop() throws InterruptedException {
        process.toHandle().destroy(); // that of the process closes its output, which the assembly writes to
        ended();
    }

    /** Waits until it has ended by itself. */
    void ended() throws InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new CommandException(ExitCode.FAILED, "it does not end: " + lastLine);
        }
        reader.join();
        if (process.exitValue() != 0) {
            throw new CommandException(ExitCode.FAILED,
                    "it ended with " + process.exitValue() + ": " + lastLine);
        }
    }

    String lastLine() {
        return lastLine;
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                lastLine = line;
                if (line.startsWith(EVENT)) {
                    event(line.substring(EVENT.length(), line.indexOf('"', EVENT.length())))
                            .complete(JsonTree.of(line));
                }
            }
        } catch (IOException e) {
            lastLine = Reason.of(e);
        } finally {
            end();
        }
    }

    private synchronized CompletableFuture<JsonNode> event(String name) {
        return events.computeIfAbsent(name, any -> {
            var future = new CompletableFuture<JsonNode>();
            if (events.containsKey("")) {
                future.cancel(false);
            }
            return future;
        });
    }

    /** Nothing follows: whoever waits has waited in vain. */
    private synchronized void end() {
        events.put("", new CompletableFuture<>());
        events.values().forEach(each -> each.completeExceptionally(new IOException("ended")));
    }
}
