package dev.culvert.e2e;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A tunnel client as a process of its own, as an operator starts it: {@code culvert client --server …}. */
final class ClientProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final CountDownLatch connected = new CountDownLatch(1);
    private final List<String> lines = new ArrayList<>();

    private ClientProcess(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().name("client-output").start(this::follow);
    }

    static ClientProcess start(Platform platform, Path token, URI to) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ClientProcess(new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "dev.culvert.launcher.Main", "client",
                "--server", "wss://localhost:" + platform.server.tunnelAddress().port(),
                "--enrolment-token-file", token.toString(),
                "--identity-dir", platform.folder.resolve("identity").toString(),
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
            synchronized (lines) {
                throw new AssertionError("the client did not connect:\n" + String.join("\n", lines));
            }
        }
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
