package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Tunnel mode: a server, and a client that sends all requests to the upstream, each in its own JVM. The limit
 * of webhooks from one address is raised, because all callers have the same one.
 */
public final class CulvertTarget implements TargetKind {
    private final String name;
    /** The client's flag that names the upstream. */
    private final String flag;

    private CulvertTarget(String name, String flag) {
        this.name = name;
        this.flag = flag;
    }

    /**
     * {@code culvert}: the upstream is in place of a router ({@code --router-url}). Requests take the same
     * way as with {@code --to}, and the server's inbox stores webhooks.
     */
    static CulvertTarget withInbox() {
        return new CulvertTarget("culvert", "--router-url");
    }

    /**
     * The target of the comparison without a scenario: one upstream ({@code --to}), and nothing is stored.
     */
    public static CulvertTarget withoutInbox() {
        return new CulvertTarget("Culvert", "--to");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String version() {
        return CulvertPrograms.version();
    }

    @Override
    public Target start(Testbed bed, Upstream upstream) throws IOException {
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
        Program server = bed.start(folder.resolve("server.log"),
                CulvertPrograms.command(CulvertPrograms.SERVER, "server", "--config", config.toString()));
        String ready = server.await(CulvertPrograms.READY);
        Path token = Testbed.secret(folder.resolve("token"), token(folder, ready));
        Program client = bed.start(folder.resolve("client.log"),
                CulvertPrograms.command(CulvertPrograms.PART, "client", "--server",
                        "wss://" + CulvertPrograms.field(ready, "tunnel"), "--enrolment-token-file",
                        token.toString(), "--identity-dir", folder.resolve("identity").toString(),
                        "--health-listen", "127.0.0.1:0", flag, upstream.address().toString()));
        client.await("\"event\":\"connected\"");
        return new Target(name, URI.create("https://" + CulvertPrograms.field(ready, "edge")),
                CulvertPrograms.HOST, List.of(server.pid(), client.pid()));
    }

    /** Creates the runtime and returns its enrolment token. */
    private static String token(Path folder, String ready) {
        String created = CulvertPrograms.run("runtime", "create", "demo", "local", "--admin",
                "http://" + CulvertPrograms.field(ready, "admin"), "--admin-token-file",
                folder.resolve("admin.token").toString(), "--output", "json");
        return CulvertPrograms.field(created, "enrolmentToken");
    }
}
