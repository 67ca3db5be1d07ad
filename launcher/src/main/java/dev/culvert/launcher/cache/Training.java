package dev.culvert.launcher.cache;

import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.admin.SocketHttp;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lets one part run for a moment, so that its JVM writes an AOT cache (JEP 514) of what it has loaded and
 * linked. Everything it needs is made in a folder of its own, and listens on free ports of 127.0.0.1.
 */
final class Training {
    /** The parts that have a cache by default. The steady state of a server is dearer with one. */
    static final List<String> USUAL = List.of("cli", "client", "router", "app-proxy", "control-plane");
    static final List<String> ALL = List.of("cli", "client", "router", "app-proxy", "control-plane",
            "server");

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int REQUESTS = 5;
    private static final String FREE_PORT = "127.0.0.1:0";

    private final Installation installation;
    private final Path folder;

    /** @param folder an empty folder, which is the caller's to remove */
    Training(Installation installation, Path folder) {
        this.installation = installation;
        this.folder = folder;
    }

    /** Makes the cache of a part. Blocking. Throws {@link CommandException} if it is not made. */
    void run(String part, Path cache) throws IOException, InterruptedException {
        String output = "-XX:AOTCacheOutput=" + cache;
        try (CannedServer canned = CannedServer.start()) {
            switch (part) {
                case "cli" -> commands(output, canned);
                case "client" -> tunnel(null, output, canned);
                case "server" -> tunnel(output, null, canned);
                default -> service(part, output, canned);
            }
        } catch (GeneralSecurityException e) {
            throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
        }
        if (!Files.isRegularFile(cache)) {
            throw new CommandException(ExitCode.FAILED,
                    "the run-time " + installation.java() + " wrote none (expected: HotSpot 25 or newer)");
        }
    }

    private void commands(String output, CannedServer canned) throws IOException, InterruptedException {
        Path token = Files.writeString(folder.resolve("admin.token"), "token\n");
        try (var process = TrainedProcess.start(folder,
                installation.rehearsal(output, canned.url(), token.toString()))) {
            process.ended();
        }
    }

    private void service(String part, String output, CannedServer canned)
            throws IOException, InterruptedException {
        Path config = Files.writeString(folder.resolve(part + ".yaml"), switch (part) {
            case "router" -> "listen: \"127.0.0.1:0\"\nroutes: [{ path: /, to: \"" + canned.url() + "\" }]\n";
            case "control-plane" -> "listen: \"127.0.0.1:0\"\ndataDir: data\n";
            default -> "listen: \"127.0.0.1:0\"\n";
        });
        try (var process = TrainedProcess.start(folder,
                installation.command(part, output, part, "--config", config.toString()))) {
            String listen = process.await("listening").path("listen").asText();
            for (int i = 0; i < REQUESTS; i++) {
                get("http://" + listen + "/readyz");
                get("http://" + listen + "/" + i);
            }
            process.stop();
        }
    }

    /** Starts a server and its client, and sends requests through both; one of them makes its cache. */
    private void tunnel(@Nullable String server,
            @Nullable String client, CannedServer canned)
            throws IOException, InterruptedException, GeneralSecurityException {
        try (var certs = TrainedProcess.start(folder,
                installation.command("cli", null, "certs", "init", "--dir", "certs", "--domain", "x.test"))) {
            certs.ended();
        }
        Files.writeString(folder.resolve("server.yaml"),
                """
                        edge:   { listen: "127.0.0.1:0", domain: x.test, tls: { certificate: certs/edge.crt, key: certs/edge.key } }
                        tunnel: { listen: "127.0.0.1:0", tls: { certificate: certs/tunnel.crt, key: certs/tunnel.key },
                                  ca: { certificate: certs/ca.crt, key: certs/ca.key } }
                        admin:  { listen: "127.0.0.1:0" }
                        dataDir: data
                        """);
        try (var first = TrainedProcess.start(folder,
                installation.command("server", server, "server", "--config", "server.yaml"))) {
            var ready = first.await("listening");
            Path token = enrolmentToken(URI.create("http://" + ready.path("admin").asText()));
            try (var second = TrainedProcess.start(folder,
                    installation.command("client", client, "client", "--server",
                            "wss://" + ready.path("tunnel").asText(), "--server-ca", "certs/ca.crt",
                            "--enrolment-token-file", token.toString(), "--identity-dir", "identity", "--to",
                            canned.url(), "--health-listen", FREE_PORT))) {
                String health = second.await("listening").path("health").asText();
                second.await("connected");
                var edge = new EdgeCaller(folder.resolve("certs/ca.crt"));
                String address = ready.path("edge").asText();
                int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
                for (int i = 0; i < REQUESTS; i++) {
                    edge.get(port, "acme-prod.x.test", "/" + i);
                    get("http://" + health + "/readyz");
                }
                second.stop();
            }
            first.stop();
        }
    }

    private Path enrolmentToken(URI admin) throws IOException {
        var api = new AdminClient(admin, Files.readString(folder.resolve("admin.token")).strip());
        var created = api.call("POST", "/runtimes", Map.of("account", "acme", "name", "prod"));
        if (!created.ok()) {
            throw new CommandException(ExitCode.FAILED, created.problem());
        }
        return Files.writeString(folder.resolve("token"), created.json().path("enrolmentToken").asText());
    }

    private static void get(String url) throws IOException {
        new SocketHttp(TIMEOUT).send("GET", URI.create(url), Map.of(), null);
    }
}
