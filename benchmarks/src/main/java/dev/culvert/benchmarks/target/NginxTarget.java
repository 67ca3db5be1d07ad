package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Ports;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * A chain of nginx processes: TLS 1.3 at the edge and between the hops, plain HTTP to the upstream, and
 * connections that are kept everywhere. Each hop has as many workers as Culvert has event loops. Responses
 * are buffered in memory, events and uploads not at all.
 */
public final class NginxTarget implements TargetKind {
    private static final String KEEP = "keepalive_requests 1000000000; keepalive_timeout 1h;";

    private final String name;
    private final int hops;

    private NginxTarget(String name, int hops) {
        this.name = name;
        this.hops = hops;
    }

    /** {@code nginx1} or {@code nginx2}. */
    static NginxTarget of(int hops) {
        return new NginxTarget("nginx" + hops, hops);
    }

    /** The baseline of the comparison without a scenario. */
    public static NginxTarget ofTwoHops() {
        return new NginxTarget("nginx, two hops", 2);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<String> programs() {
        return List.of("nginx");
    }

    @Override
    public String version() {
        return Nginx.version();
    }

    @Override
    public Target start(Testbed bed, Upstream upstream) throws IOException {
        List<Long> pids = new ArrayList<>();
        int workers = Runtime.getRuntime().availableProcessors(); // EventLoops.create() has as many loops
        URI next = upstream.address();
        for (int hop = hops; hop > 0; hop--) {
            int port = Ports.free();
            String folder = "nginx" + hops + "-" + hop;
            pids.add(Nginx.start(bed, folder, workers, port, server(bed.certificates(), port, next)).pid());
            next = URI.create("https://127.0.0.1:" + port);
        }
        return new Target(name, next, CulvertPrograms.HOST, pids);
    }

    private String server(Certificates certificates, int port, URI next) {
        return """
                upstream next { server 127.0.0.1:%1$d; keepalive 512; %2$s }
                server { listen 127.0.0.1:%3$d ssl http2; ssl_certificate %4$s; ssl_certificate_key %5$s;
                  ssl_protocols TLSv1.3; proxy_ssl_protocols TLSv1.3; proxy_http_version 1.1;
                  proxy_set_header Connection ""; proxy_set_header Host $host;
                  client_max_body_size 0; proxy_max_temp_file_size 0; proxy_read_timeout 1h;
                  location / { proxy_pass %6$s://next; }
                  location /bytes/ { proxy_pass %6$s://next; proxy_buffers 16 32k; proxy_busy_buffers_size 64k; }
                  location /events/ { proxy_pass %6$s://next; proxy_buffering off; }
                  location = /upload { proxy_pass %6$s://next; proxy_request_buffering off; }
                  location = /echo { proxy_pass %6$s://next; proxy_set_header Host $host;
                    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade; }
                }"""
                .formatted(next.getPort(), KEEP, port, certificates.edgeCertificate(), certificates.edgeKey(),
                        next.getScheme());
    }
}
