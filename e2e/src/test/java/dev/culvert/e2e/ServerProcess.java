package dev.culvert.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A tunnel server, or another part, as a process of its own that can be killed. */
final class ServerProcess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 60;

    private final Process process;
    private final CompletableFuture<JsonNode> listening = new CompletableFuture<>();
    private final List<String> lines = new ArrayList<>();

    private ServerProcess(Process process) {
        this.process = process;
        Thread.ofPlatform().daemon().name("server-output").start(this::follow);
    }

    /**
     * Starts one with the files that {@code certs init} wrote to {@code folder}.
     *
     * @param tunnelPort where clients find it; 0 picks one
     */
    static ServerProcess start(Path folder, String domain, int tunnelPort) throws IOException {
        var command = new ArrayList<>(
                List.of("server", "--edge-listen", "127.0.0.1:0", "--edge-domain", domain,
                        "--tunnel-listen", "127.0.0.1:" + tunnelPort, "--admin-listen", "127.0.0.1:0",
                        "--admin-token-file", folder.resolve("admin.token").toString(), "--data-dir",
                        folder.resolve("data").toString()));
        for (String listener : List.of("edge-tls:edge", "tunnel-tls:tunnel", "tunnel-ca:ca")) {
            String file = folder.resolve(listener.substring(listener.indexOf(':') + 1)).toString();
            String key = "--" + listener.substring(0, listener.indexOf(':'));
            command.addAll(List.of(key + "-certificate", file + ".crt", key + "-key", file + ".key"));
        }
        return part("", command);
    }

    /**
     * Starts any part.
     *
     * @param classPath jars beside those of the test; empty: none
     * @param arguments those of {@code culvert}
     */
    static ServerProcess part(String classPath, List<String> arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = new ArrayList<>(List.of(java, "-cp",
                System.getProperty("java.class.path") + File.pathSeparator + classPath,
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "dev.culvert.launcher.Main"));
        command.addAll(arguments);
        return new ServerProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
    }

    private void follow() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                }
                if (line.startsWith("{\"event\":\"listening\"")) {
                    listening.complete(new JsonMapper().readTree(line));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address of a listener, such as {@code edge}, {@code tunnel} or {@code admin}, once it listens. */
    String address(String listener) {
        try {
            return Objects.requireNonNull(listening.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .path(listener)
                    .asText();
        } catch (Exception e) {
            synchronized (lines) {
                throw new AssertionError("it does not listen:\n" + String.join("\n", lines), e);
            }
        }
    }

    int port(String listener) {
        String address = address(listener);
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
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
