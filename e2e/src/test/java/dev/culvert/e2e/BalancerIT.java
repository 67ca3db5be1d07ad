package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.server.ServerConfig;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Who called, and where the time went, through a real HAProxy that passes TCP on, both listeners, tunnel and upstream. */
class BalancerIT {
    private static final Duration SLOW = Duration.ofMillis(60);
    private static final List<String> PLACES = List.of("/usr/sbin/haproxy", "/usr/local/sbin/haproxy",
            "/usr/bin/haproxy");
    private static final Pattern TIMING = Pattern.compile("culvert-([a-z]+);dur=([0-9.]+)");

    @TempDir
    private Path folder;

    private @Nullable DisposableServer upstream;
    private @Nullable Platform platform;
    private @Nullable Process balancer;
    private int edgePort;

    @BeforeEach
    void start() throws Exception {
        String haproxy = PLACES.stream()
                .filter(place -> Files.isExecutable(Path.of(place)))
                .findFirst()
                .orElse("");
        assumeTrue(!haproxy.isEmpty(), "HAProxy is not installed");
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.header("server-timing", "db;dur=1")
                        .header("culvert-timing", "router=1")
                        .sendString(Mono.delay(SLOW)
                                .map(late -> request.requestHeaders().get("x-forwarded-for") + " "
                                        + request.requestHeaders().get("x-forwarded-port"))))
                .bindNow();
        platform = Platform.start(folder, BalancerIT::behindBalancers);
        edgePort = freePort();
        int tunnelPort = freePort();
        balancer = new ProcessBuilder(haproxy, "-db", "-f",
                Files.writeString(folder.resolve("haproxy.cfg"), config(tunnelPort)).toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("haproxy.log").toFile())
                .start();
        Awaitility.await().until(() -> accepts(tunnelPort) && accepts(edgePort));
        Platform running = Objects.requireNonNull(platform);
        ClientConfig client = running.clientConfig("acme", "prod", running.createRuntime("acme", "prod"),
                URI.create("http://127.0.0.1:" + upstream.port()), null, tunnelPort);
        running.connect(client);
    }

    private static ServerConfig behindBalancers(ServerConfig usual) {
        ServerConfig.Edge edge = usual.edge();
        ServerConfig.Tunnel tunnel = usual.tunnel();
        return new ServerConfig(
                new ServerConfig.Edge(edge.listen(), edge.domain(), edge.tls(), List.of(), false,
                        edge.limits(),
                        List.of("127.0.0.1"), true, true, true),
                new ServerConfig.Tunnel(tunnel.listen(), tunnel.tls(), false, false, List.of("127.0.0.1"),
                        true,
                        tunnel.ca(), true),
                usual.admin(), usual.dataDir(), usual.store());
    }

    private String config(int tunnelPort) {
        var server = Objects.requireNonNull(platform).server;
        return """
                global
                    maxconn 100
                defaults
                    mode tcp
                    timeout connect 5s
                    timeout client 1m
                    timeout server 1m
                listen edge
                    bind 127.0.0.1:%d
                    server one %s send-proxy-v2
                listen tunnel
                    bind 127.0.0.1:%d
                    server one %s send-proxy
                """.formatted(edgePort, server.edgeAddress(), tunnelPort, server.tunnelAddress());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @AfterEach
    void stop() throws Exception {
        if (platform != null) {
            platform.close();
        }
        if (balancer != null) {
            balancer.destroy();
            balancer.waitFor();
        }
        if (upstream != null) {
            upstream.disposeNow();
        }
    }

    /** From an address of its own, so that it is not taken for the balancer. */
    private String get(String source) throws Exception {
        SSLContext trusting = SSLContext.getInstance("TLS");
        trusting.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        try (SSLSocket socket = (SSLSocket) trusting.getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), edgePort, InetAddress.getByName(source), 0)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(("GET /x?token=secret HTTP/1.1\r\nHost: acme-prod." + Platform.DOMAIN
                            + "\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void theUpstreamSeesWhoCalledTheBalancerAndTheCallerWhereTheTimeWent() throws Exception {
        String answer = get("127.0.0.5");

        assertThat(answer).startsWith("HTTP/1.1 200 ")
                .contains("127.0.0.5 " + edgePort, "server-timing: db;dur=1");
        // the upstream may begin to wait before the client has seen the end of its write
        assertThat(millis(answer, "upstream")).isBetween(SLOW.toMillis() - 20.0, 5000.0);
        assertThat(millis(answer, "router")).isBetween(0.001, 5000.0);
        assertThat(millis(answer, "tunnel")).isBetween(0.001, 5000.0);
        assertThat(Objects.requireNonNull(platform).tunnels()).contains("127.0.0.1:");
    }

    private static double millis(String head, String hop) {
        Matcher found = TIMING.matcher(head);
        return Stream.iterate(found.find(), more -> more, more -> found.find())
                .filter(more -> found.group(1).equals(hop))
                .map(more -> Double.parseDouble(found.group(2)))
                .findFirst()
                .orElseThrow();
    }
}
