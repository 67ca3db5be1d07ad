package dev.culvert.e2e.hostile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.CertificateAuthority;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The server that is attacked: {@code culvert server …} in a process of its own, whose lines are in {@code server.log}. */
final class HostileServer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** What is kept of one runtime's pending webhooks: little, so that attacks get there. */
    static final long RUNTIME_BYTES = 32 << 20;
    /** What is kept of all delivered ones' content. */
    static final long DELIVERED_BYTES = 8 << 20;
    private static final Duration YEAR = Duration.ofDays(365);

    final Target target;
    private final Process process;
    private final Path log;

    private HostileServer(Process process, Path folder, Path log) throws IOException {
        this.process = process;
        this.log = log;
        JsonNode addresses = listening();
        target = new Target(port(addresses, "edge"), port(addresses, "tunnel"), port(addresses, "admin"),
                folder);
    }

    /** Starts one in an empty folder, with an end at the first OutOfMemoryError. */
    static HostileServer start(Path folder, List<String> options) throws IOException {
        certify(folder);
        Path log = folder.resolve("server.log");
        var command = new ArrayList<>(List.of(java(), "-cp", System.getProperty("java.class.path"),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+ExitOnOutOfMemoryError"));
        command.addAll(options);
        command.addAll(List.of("dev.culvert.launcher.Main", "server",
                "--edge-listen", "127.0.0.1:0", "--edge-domain", Target.DOMAIN, "--tunnel-listen",
                "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--admin-token-file",
                folder.resolve("admin.token").toString(), "--data-dir", folder.resolve("data").toString(),
                "--tunnel-ca-certificate", folder.resolve("ca.crt").toString(), "--tunnel-ca-key",
                folder.resolve("ca.key").toString()));
        command.addAll(List.of("--inbox-max-runtime-bytes", Long.toString(RUNTIME_BYTES),
                "--inbox-max-source-bytes", Long.toString(RUNTIME_BYTES), "--inbox-keep-delivered-bytes",
                Long.toString(DELIVERED_BYTES)));
        for (String listener : List.of("edge", "tunnel")) {
            command.addAll(List.of("--" + listener + "-tls-certificate",
                    folder.resolve(listener + ".crt").toString(), "--" + listener + "-tls-key",
                    folder.resolve(listener + ".key").toString()));
        }
        File output = log.toFile();
        return new HostileServer(
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start(),
                folder, log);
    }

    /** The program that runs this process. */
    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static void certify(Path folder) {
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of(Target.DOMAIN, "*." + Target.DOMAIN), List.of(), YEAR)
                .writeTo(folder.resolve("edge.crt"), folder.resolve("edge.key"));
        ca.issueServer(List.of("localhost", Target.DOMAIN), List.of(InetAddress.getLoopbackAddress()), YEAR)
                .writeTo(folder.resolve("tunnel.crt"), folder.resolve("tunnel.key"));
    }

    private JsonNode listening() throws IOException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < deadline && process.isAlive()) {
            Optional<String> line = lines().stream()
                    .filter(any -> any.startsWith("{\"event\":\"listening\""))
                    .findFirst();
            if (line.isPresent()) {
                return Objects.requireNonNull(new JsonMapper().readTree(line.get()));
            }
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
        throw new AssertionError("the server does not listen:\n" + String.join("\n", lines()));
    }

    private static int port(JsonNode addresses, String listener) {
        String address = addresses.path(listener).asText();
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    private List<String> lines() throws IOException {
        return Files.readString(log, java.nio.charset.StandardCharsets.ISO_8859_1).lines().toList();
    }

    /** What ended it, or what it says of memory that it did not get; empty while all is well. */
    Optional<String> trouble() throws IOException {
        Optional<String> line = lines().stream().filter(any -> any.contains("OutOfMemory")).findFirst();
        return process.isAlive()
                ? line
                : Optional.of(
                        "the server ended with " + process.exitValue() + line.map(" "::concat).orElse(""));
    }

    /** The CPU time that it has used. */
    Duration cpuTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** The open file descriptors of the process. */
    long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
            return open.count();
        }
    }

    /** Collects garbage in it, so that the heap's use is what it holds. */
    void collect() throws IOException, InterruptedException {
        new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(process.pid()), "GC.run").redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
