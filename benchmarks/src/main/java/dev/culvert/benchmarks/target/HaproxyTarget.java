package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Ports;
import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code haproxy2}: two HAProxy processes, with TLS 1.3 at the edge and between them, plain HTTP to the
 * upstream, and a thread for each processor.
 */
final class HaproxyTarget implements TargetKind {
    private static final int HOPS = 2;

    @Override
    public String name() {
        return "haproxy2";
    }

    @Override
    public List<String> programs() {
        return List.of("haproxy");
    }

    @Override
    public String version() {
        return Program.run(List.of("haproxy", "-v")).lines().findFirst().orElse("");
    }

    @Override
    public Target start(Testbed bed, Upstream upstream) throws IOException {
        Path folder = bed.folder(name());
        Path pem = bed.certificates().edgePem(folder.resolve("edge.pem"));
        List<Long> pids = new ArrayList<>();
        String next = "127.0.0.1:" + upstream.port();
        String tls = "";
        int port = 0;
        for (int hop = HOPS; hop > 0; hop--) {
            port = Ports.free();
            Path config = Files.writeString(folder.resolve(hop + ".cfg"), config(port, pem, next + tls));
            Program haproxy = bed.start(folder.resolve(hop + ".log"),
                    List.of("haproxy", "-db", "-f", config.toString()));
            haproxy.awaitPort(port);
            pids.add(haproxy.pid());
            next = "127.0.0.1:" + port;
            tls = " ssl verify none ssl-min-ver TLSv1.3";
        }
        return new Target(name(), URI.create("https://127.0.0.1:" + port), CulvertPrograms.HOST, pids);
    }

    private static String config(int port, Path pem, String next) {
        return """
                global
                    nbthread %d
                    maxconn 4000
                defaults
                    mode http
                    timeout connect 5s
                    timeout client  1h
                    timeout server  1h
                    timeout tunnel  1h
                    http-reuse always
                frontend edge
                    bind 127.0.0.1:%d ssl crt %s alpn h2,http/1.1 ssl-min-ver TLSv1.3
                    default_backend next
                backend next
                    server one %s
                """
                .formatted(Runtime.getRuntime().availableProcessors(), port, pem, next);
    }
}
