package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;

import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Objects;

/** A process of its own that holds a store until it is killed. */
final class StoreHolder implements AutoCloseable {
    private final Process process;

    private StoreHolder(Process process) {
        this.process = process;
    }

    /** Returns once the process holds the store of {@code dataDir}. */
    static StoreHolder start(Path dataDir) throws IOException {
        Process process = new ProcessBuilder(
                Objects.requireNonNull(ProcessHandle.current().info().command().orElse(null)), "-cp",
                System.getProperty("java.class.path"), StoreHolder.class.getName(), dataDir.toString())
                .redirectErrorStream(true)
                .start();
        var lines = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); !"holding".equals(line); line = lines.readLine()) {
            if (line == null) {
                throw new IOException("the holder ended");
            }
        }
        return new StoreHolder(process);
    }

    long pid() {
        return process.pid();
    }

    /** As kill -9: nothing is given back. */
    void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    @Override
    public void close() {
        kill();
    }

    /** The process. */
    public static void main(String[] args) {
        await(SqliteRuntimeStore.open(Path.of(args[0]), "t.example", StoreLimits.defaults(),
                Clock.systemUTC()));
        System.out.println("holding");
        try {
            System.in.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
