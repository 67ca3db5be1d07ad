package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.BenchException;
import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A tunnel server in a JVM of its own, with new data. The limit of webhooks from one address is raised,
 * because all callers have the same one.
 */
public final class CulvertServer {
    private static final int CREATED = 201;

    private final Testbed bed;
    private final Launch launch;
    private final Path folder;
    private final Program program;
    private final String ready;
    private final HttpClient admin = HttpClient.newHttpClient();

    private CulvertServer(Testbed bed, Launch launch, Path folder, Program program) {
        this.bed = bed;
        this.launch = launch;
        this.folder = folder;
        this.program = program;
        this.ready = program.await(CulvertPrograms.READY);
    }

    /** Starts a server. Returns when it listens. Blocking. */
    public static CulvertServer start(Testbed bed, Launch launch) throws IOException {
        Path folder = bed.folder("culvert");
        Path config = Files.writeString(folder.resolve("server.yaml"),
                """
                        edge:   { accessLog: false, listen: "127.0.0.1:0", domain: %2$s, tls: { certificate: %1$s/edge.crt, key: %1$s/edge.key } }
                        tunnel: { listen: "127.0.0.1:0", tls: { certificate: %1$s/tunnel.crt, key: %1$s/tunnel.key }, ca: { certificate: %1$s/ca.crt, key: %1$s/ca.key } }
                        admin:  { listen: "127.0.0.1:0", tokenFile: admin.token }
                        inbox:  { perAddress: 1000000 }
                        dataDir: data
                        """
                        .formatted(bed.certificates().folder(), Certificates.DOMAIN));
        return new CulvertServer(bed, launch, folder, bed.start(folder.resolve("server.log"),
                launch.command(CulvertPrograms.SERVER, "server", "--config", config.toString())));
    }

    public long pid() {
        return program.pid();
    }

    public Program program() {
        return program;
    }

    /** Lists the runtimes, by a short command. */
    void list() {
        Program.run(launch.command(CulvertPrograms.SHORT, "runtime", "list", "--admin",
                "http://" + CulvertPrograms.field(ready, "admin"), "--admin-token-file",
                folder.resolve("admin.token").toString()));
    }

    public URI edge() {
        return URI.create("https://" + CulvertPrograms.field(ready, "edge"));
    }

    public URI tunnel() {
        return URI.create("wss://" + CulvertPrograms.field(ready, "tunnel"));
    }

    /** The Host of requests to a runtime. */
    public static String host(String account, String name) {
        return account + "-" + name + "." + Certificates.DOMAIN;
    }

    /** Creates a runtime, and a file with its enrolment token. */
    public Path create(String account, String name, Path file) throws IOException {
        HttpRequest request = HttpRequest
                .newBuilder(
                        URI.create("http://" + CulvertPrograms.field(ready, "admin") + "/api/v1/runtimes"))
                .header("authorization",
                        "Bearer " + Files.readString(folder.resolve("admin.token")).strip())
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers
                        .ofString("{\"account\":\"%s\",\"name\":\"%s\",\"hosts\":[]}".formatted(account,
                                name)))
                .build();
        try {
            HttpResponse<String> response = admin.send(request, HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != CREATED) {
                throw BenchException.failed(
                        "no runtime " + name + ": " + response.statusCode() + " " + response.body());
            }
            return Testbed.secret(file, CulvertPrograms.field(response.body(), "enrolmentToken"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw BenchException.failed("interrupted");
        }
    }

    /**
     * Starts a client in a JVM of its own, whose runtime it creates. Returns at once.
     *
     * @param flag the client's flag that names the upstream
     */
    public Program client(String account, String name, String flag, URI upstream) throws IOException {
        Path token = create(account, name, clientFolder(account, name).resolve("token"));
        return startClient(account, name, flag, upstream, "--enrolment-token-file", token.toString());
    }

    /** Starts a client that has run before, with the identity that it has. Returns at once. */
    public Program clientAgain(String account, String name, String flag, URI upstream) throws IOException {
        return startClient(account, name, flag, upstream);
    }

    private Program startClient(String account, String name, String flag, URI upstream, String... more)
            throws IOException {
        Path own = clientFolder(account, name);
        List<String> command = launch.command(CulvertPrograms.PART, "client", "--server", tunnel().toString(),
                "--identity-dir", own.resolve("identity").toString(), "--health-listen", "127.0.0.1:0", flag,
                upstream.toString());
        command.addAll(List.of(more));
        return bed.start(own.resolve("log"), command);
    }

    private Path clientFolder(String account, String name) throws IOException {
        return bed.folder("client-" + account + "-" + name);
    }

    /**
     * Starts many clients in one JVM, whose runtimes it creates. Returns at once. The program prints a line
     * {@code up N} for each tunnel.
     */
    public Program clients(String account, int count) throws IOException {
        Path own = bed.folder("clients-" + account);
        for (int number = 0; number < count; number++) {
            create(account, "r" + number, own.resolve(number + ".token"));
        }
        var command = Launch.OWN.java(CulvertPrograms.PART, "dev.culvert.benchmarks.Benchmarks");
        command.addAll(List.of("storm", "clients", "--server", tunnel().toString(), "--dir",
                own.toString(), "--from", "0", "--to", Integer.toString(count)));
        return bed.start(own.resolve("log"), command);
    }
}
