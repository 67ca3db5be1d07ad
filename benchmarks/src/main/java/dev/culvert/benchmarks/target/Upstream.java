package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Ports;
import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The upstream of all targets of a start: a process on 127.0.0.1 that speaks plain HTTP.
 *
 * @param address its URL without a path
 * @param pid its process
 */
public record Upstream(URI address, long pid) {
    private static final String READY = "listening ";
    private static final String SERVER = "dev.culvert.benchmarks.load.UpstreamServer";
    private static final int FILE_BYTES = 200;

    /**
     * Starts the upstream of the load generator: a JVM with the class path of this one. Paths: {@code /f}
     * (200 bytes), {@code /bytes/N}, {@code /upload} (POST), {@code /webhooks/argo/push/x} (POST), {@code
     * /echo} (WebSocket), {@code /events/N} (N events a second).
     */
    public static Upstream start(Testbed bed) throws IOException {
        Program server = bed.start(bed.folder("upstream").resolve("log"),
                Launch.OWN.java(CulvertPrograms.PART, SERVER));
        String line = server.await(READY);
        String address = line.substring(line.indexOf(READY) + READY.length()).strip();
        return new Upstream(URI.create("http://" + address), server.pid());
    }

    /** Starts nginx with one worker and the file {@code /f} of 200 bytes. */
    public static Upstream nginx(Testbed bed) throws IOException {
        Path folder = bed.folder("www");
        Files.writeString(folder.resolve("f"), "x".repeat(FILE_BYTES));
        int port = Ports.free();
        Program nginx = Nginx.start(bed, "upstream", 1, port,
                "server { listen 127.0.0.1:%d; root %s; }".formatted(port, folder));
        return new Upstream(URI.create("http://127.0.0.1:" + port), nginx.pid());
    }

    int port() {
        return address.getPort();
    }

    /** The kind of target without a proxy. What is measured is the upstream itself. */
    static TargetKind direct() {
        return new TargetKind() {
            @Override
            public String name() {
                return "direct";
            }

            @Override
            public Target start(Testbed bed, Upstream upstream) {
                return new Target(name(), upstream.address(), "", List.of(upstream.pid()));
            }
        };
    }
}
