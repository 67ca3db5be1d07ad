package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.launcher.certs.CertsFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A process of the launcher, started as the script starts it, with what it printed so far. */
public final class Launched implements AutoCloseable {
    private static final Duration WAIT = Duration.ofMinutes(1);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Process process;
    private final Path out;
    private final Path err;

    private Launched(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** Writes certificates for {@code x.test}, and {@code server.yaml} for a server with free ports. */
    static void writeServer(Path folder) throws IOException {
        new CertsFolder(folder).init("x.test");
        Files.writeString(folder.resolve("server.yaml"),
                """
                        edge:   { listen: "127.0.0.1:0", domain: x.test, tls: { certificate: edge.crt, key: edge.key } }
                        tunnel: { listen: "127.0.0.1:0", tls: { certificate: tunnel.crt, key: tunnel.key },
                                  ca: { certificate: ca.crt, key: ca.key } }
                        admin:  { listen: "127.0.0.1:0" }
                        dataDir: data
                        """);
    }

    public static Launched start(Path folder, String... arguments) throws IOException {
        return start(folder, List.of(), arguments);
    }

    /** @param options more options of the JVM */
    static Launched start(Path folder, List<String> options, String... arguments) throws IOException {
        return start(folder, options, Map.of(), arguments);
    }

    /** @param environment more variables of the environment */
    static Launched start(Path folder, List<String> options, Map<String, String> environment,
            String... arguments) throws IOException {
        Path out = Files.createTempFile(folder, "out", ".log");
        Path err = Files.createTempFile(folder, "err", ".log");
        var command = new ArrayList<>(command(options));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("CULVERT_"));
        builder.environment().putAll(environment);
        return new Launched(builder.start(), out, err);
    }

    /** The words that start the launcher, without arguments. */
    static List<String> command(List<String> options) {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        return command;
    }

    /** The first line that is this event, once it was printed. */
    public JsonNode event(String event) {
        return Awaitility.await("event " + event)
                .atMost(WAIT)
                .until(() -> find(event), Optional::isPresent)
                .orElseThrow();
    }

    private Optional<JsonNode> find(String event) throws IOException {
        for (String line : out().lines().toList()) {
            if (line.startsWith("{\"event\":\"" + event + "\"")) {
                return Optional.of(JSON.readTree(line));
            }
        }
        assertThat(process.isAlive()).as("ended early: " + out() + err()).isTrue();
        return Optional.empty();
    }

    /** Waits until a text was printed on standard output. */
    void printed(String text) {
        Awaitility.await(text).atMost(WAIT).until(() -> out().contains(text));
    }

    /** Sends SIGTERM. */
    Launched terminate() {
        process.destroy();
        return this;
    }

    /** Sends SIGKILL, and waits for the end. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** The exit code, once it ended. */
    int exitCode() throws InterruptedException {
        assertThat(process.waitFor(WAIT.toSeconds(), TimeUnit.SECONDS)).as("ends in time").isTrue();
        return process.exitValue();
    }

    String out() throws IOException {
        return Files.readString(out, StandardCharsets.UTF_8);
    }

    String err() throws IOException {
        return Files.readString(err, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
