package dev.culvert.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Starts the systems to compare: the upstream alone, two nginx hops, and Culvert's server and client. All run
 * on loopback.
 */
final class Contenders {
    private static final String HOST = "demo-local.culvert.localhost";
    private static final int BODY_BYTES = 200;

    private final Path dir;
    private final Path certs;
    private final int upstreamPort;

    private Contenders(Path dir, int upstreamPort) {
        this.dir = dir;
        this.certs = dir.resolve("certs");
        this.upstreamPort = upstreamPort;
    }

    static List<Contender> start(Path dir) throws IOException {
        Contenders all = new Contenders(dir, freePort());
        culvert("certs", "init", "--dir", all.certs.toString(), "--domain", "culvert.localhost");
        return List.of(all.upstream(), all.chain(), all.culvert());
    }

    private Contender upstream() throws IOException {
        Path root = Files.createDirectories(dir.resolve("www"));
        Files.writeString(root.resolve("f"), "x".repeat(BODY_BYTES));
        Program nginx = nginx("upstream", """
                server { listen 127.0.0.1:%d; root %s; }""".formatted(upstreamPort, root));
        return new Contender("direct", "http://127.0.0.1:" + upstreamPort + "/f", "", List.of(nginx));
    }

    private Contender chain() throws IOException {
        int outer = freePort();
        int inner = freePort();
        String tls = "ssl_certificate %s/edge.crt; ssl_certificate_key %s/edge.key; ssl_protocols TLSv1.3;"
                .formatted(certs, certs);
        String pass = "proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_set_header Host $host;";
        Program first = nginx("outer", """
                upstream inner { server 127.0.0.1:%d; keepalive 512; }
                server { listen 127.0.0.1:%d ssl; %s
                  location / { proxy_pass https://inner; proxy_ssl_protocols TLSv1.3; %s } }"""
                .formatted(inner, outer, tls, pass));
        Program second = nginx("inner", """
                upstream files { server 127.0.0.1:%d; keepalive 512; }
                server { listen 127.0.0.1:%d ssl; %s location / { proxy_pass http://files; %s } }"""
                .formatted(upstreamPort, inner, tls, pass));
        return new Contender("nginx, two hops", "https://127.0.0.1:" + outer + "/f", HOST,
                List.of(first, second));
    }

    private Contender culvert() throws IOException {
        Path config = Files.writeString(dir.resolve("server.yaml"),
                """
                        edge:   { accessLog: false, listen: "127.0.0.1:0", domain: culvert.localhost, tls: { certificate: certs/edge.crt, key: certs/edge.key } }
                        tunnel: { listen: "127.0.0.1:0", tls: { certificate: certs/tunnel.crt, key: certs/tunnel.key }, ca: { certificate: certs/ca.crt, key: certs/ca.key } }
                        admin:  { listen: "127.0.0.1:0", tokenFile: admin.token }
                        dataDir: data
                        """);
        List<String> command = java("-XX:+UseG1GC");
        command.addAll(List.of("server", "--config", config.toString()));
        Program server = Program.start(dir.resolve("server.log"), command);
        String ready = server.await("\"event\":\"listening\"");
        String created = culvert("runtime", "create", "demo", "local", "--admin",
                "http://" + field(ready, "admin"),
                "--admin-token-file", dir.resolve("admin.token").toString(), "--output", "json");
        Path token = Files.writeString(dir.resolve("token"), field(created, "enrolmentToken"));
        command = java("-XX:+UseSerialGC");
        command.addAll(
                List.of("client", "--server", "wss://" + field(ready, "tunnel"), "--enrolment-token-file",
                        token.toString(), "--identity-dir", dir.resolve("identity").toString(),
                        "--health-listen", "127.0.0.1:0",
                        "--to", "http://127.0.0.1:" + upstreamPort));
        Program client = Program.start(dir.resolve("client.log"), command);
        client.await("\"event\":\"connected\"");
        return new Contender("Culvert", "https://" + field(ready, "edge") + "/f", HOST,
                List.of(server, client));
    }

    private Program nginx(String name, String servers) throws IOException {
        // If root starts nginx, its workers would run as another user that may not read the folder. For other
        // users the directive is not allowed.
        String user = "root".equals(System.getProperty("user.name")) ? "user root;" : "";
        Path config = Files.writeString(dir.resolve(name + ".conf"),
                """
                        %4$s daemon off; worker_processes 1; pid %1$s/%2$s.pid; error_log %1$s/%2$s.err;
                        events { worker_connections 4096; }
                        http { access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; ssl_session_cache off;
                        client_body_temp_path %1$s/tmp-%2$s; proxy_temp_path %1$s/tmp-%2$s; fastcgi_temp_path %1$s/tmp-%2$s;
                        uwsgi_temp_path %1$s/tmp-%2$s; scgi_temp_path %1$s/tmp-%2$s;
                        %3$s
                        }
                        """
                        .formatted(dir, name, servers, user));
        return Program.start(dir.resolve(name + ".log"),
                List.of("nginx", "-p", dir.toString(), "-c", config.toString()));
    }

    /** Runs a short command of Culvert to its end. */
    private static String culvert(String... arguments) {
        List<String> command = java("-XX:TieredStopAtLevel=1");
        command.addAll(List.of(arguments));
        return Program.run(command);
    }

    private static List<String> java(String option) {
        return new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), option,
                        "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-cp",
                        System.getProperty("java.class.path"), "dev.culvert.launcher.Main"));
    }

    private static String field(String json, String name) {
        Matcher matcher = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]+)\"").matcher(json);
        if (!matcher.find()) {
            throw BenchException.failed("no " + name + " in " + json);
        }
        return Objects.requireNonNull(matcher.group(1));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
