package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.util.List;

/** Tunnel mode: a server, and a client that sends all requests to the upstream, each in its own JVM. */
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
        CulvertServer server = CulvertServer.start(bed, Launch.OWN);
        Program client = server.client("demo", "local", flag, upstream.address());
        client.await(CulvertPrograms.CONNECTED);
        return new Target(name, server.edge(), CulvertServer.host("demo", "local"),
                List.of(server.pid(), client.pid()));
    }
}
