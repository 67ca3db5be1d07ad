package dev.culvert.e2e;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A tunnel client as a process of its own, as an operator starts it: {@code culvert client --server …}. */
final class ClientProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final CountDownLatch connected = new CountDownLatch(1);
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;

    private ClientProcess(Process process) {
        this.process = process;
        this.reader = Thread.ofPlatform().daemon().name("client-output").start(this::follow);
    }

    static ClientProcess start(Platform platform, Path token, URI to) throws IOException {
        return start(platform.server.tunnelAddress().port(), token, platform.folder.resolve("identity"), to);
    }

    static ClientProcess start(int port, Path token, Path identityDir, URI to) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ClientProcess(new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "dev.culvert.launcher.Main", "client",
                "--server", "wss://localhost:" + port,
                "--enrolment-token-file", token.toString(),
                "--identity-dir", identityDir.toString(),
                "--health-listen", "127.0.0.1:0",
                "--to", to.toString()).redirectErrorStream(true).start());
    }

    private void follow() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                }
                if (line.contains("\"event\":\"connected\"")) {
                    connected.countDown();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void awaitConnected() throws InterruptedException {
        if (!connected.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the client did not connect:\n" + output());
        }
    }

    /** Waits until a line holds {@code text}. */
    void awaitOutput(String text) {
        Awaitility.await(text)
                .atMost(Duration.ofSeconds(PATIENCE_SECONDS))
                .until(() -> output().contains(text));
    }

    /** What it printed so far, both streams. */
    String output() {
        synchronized (lines) {
            return String.join("\n", lines);
        }
    }

    /** The exit code, once it has ended by itself and all was read. */
    int exitCode() throws InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the client did not end:\n" + output());
        }
        reader.join();
        return process.exitValue();
    }

    /** As {@code kill -9} does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
