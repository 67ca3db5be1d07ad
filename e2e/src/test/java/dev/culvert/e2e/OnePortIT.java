package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.ProxyConfig;
import dev.culvert.relay.testing.TestProxy;
import dev.culvert.server.TunnelServer;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** Listeners other than two with TLS: one for callers and tunnel clients, and plain ones behind something that ends TLS. */
class OnePortIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final String LOOPBACK = "127.0.0.1";

    @TempDir
    Path folder;
    private DisposableServer upstream;

    @BeforeEach
    void startUpstream() {
        upstream = HttpServer.create()
                .host(LOOPBACK)
                .port(0)
                .route(routes -> routes
                        .get("/hello",
                                (request, response) -> response.sendString(Mono
                                        .just("hello " + request.requestHeaders().get("x-forwarded-for") + " "
                                                + request.requestHeaders().get("x-forwarded-proto"))))
                        .get("/tunnel/v1",
                                (request, response) -> response.sendString(Mono.just("the runtime's")))
                        .ws("/ws",
                                (in, out) -> out.sendObject(in.receiveFrames().map(WebSocketFrame::retain))))
                .bindNow();
    }

    @AfterEach
    void stopUpstream() {
        upstream.disposeNow();
    }

    private URI to() {
        return URI.create("http://127.0.0.1:" + upstream.port());
    }

    private static ClientConfig with(ClientConfig usual, String server, @Nullable ProxyConfig proxy) {
        return new ClientConfig(List.of(URI.create(server)), usual.serverCa(), null, proxy,
                usual.enrolmentTokenFile(), usual.identityDir(), usual.health(), usual.to(), null, null, 2);
    }

    private static String body(HttpClient caller, String path) {
        return caller.get()
                .uri(path)
                .responseSingle((head, content) -> content.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static String echo(HttpClient caller) {
        return caller.websocket()
                .uri("/ws")
                .handle((in, out) -> out.sendObject(Mono.just(new TextWebSocketFrame("ping")))
                        .then()
                        .thenMany(in.receive().asString().take(1)))
                .next()
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    /** The client's certificate arrives, or it would be refused: the server wants mutual TLS. */
    @Test
    void oneTlsPortServesEnrolmentTunnelAndCallers() throws Exception {
        try (Platform platform = Platform.start(folder, Listeners::onOnePort);
                TestProxy dns = TestProxy.http(null, null).takingEveryNameForLocal()) {
            TunnelServer server = platform.server;
            assertThat(server.tunnelAddress()).isEqualTo(server.edgeAddress());
            var proxy = new ProxyConfig(URI.create("http://127.0.0.1:" + dns.port()), null, List.of());
            ClientConfig usual = platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"),
                    to(), null);

            TunnelClient client = platform.connect(
                    with(usual, "wss://" + Platform.DOMAIN + ":" + server.edgeAddress().port(), proxy));

            await().atMost(PATIENCE).until(() -> server.tunnelConnections() == 2);
            HttpClient caller = platform.caller("acme", "prod");
            assertThat(body(caller, "/hello")).isEqualTo("200 hello 127.0.0.1 https");
            assertThat(body(caller, "/tunnel/v1")).isEqualTo("200 the runtime's");
            assertThat(echo(caller)).isEqualTo("ping");
            await().atMost(PATIENCE).until(() -> server.edgeConnections() == 0);
            assertThat(client.isLive()).isTrue();
        }
    }

    @Test
    void onlyWhoAsksForTheTunnelsNameIsAskedForACertificate() throws Exception {
        try (Platform platform = Platform.start(folder, Listeners::onOnePort)) {
            int port = platform.server.edgeAddress().port();
            TlsDial caller = new TlsDial(null);
            String runtime = "acme-prod." + Platform.DOMAIN;

            TlsDial.Answer tunnel = caller.upgrade(port, Platform.DOMAIN);
            assertThat(tunnel.asked()).isTrue();
            assertThat(tunnel.answer()).startsWith("HTTP/1.1 401 ")
                    .contains("no client certificate was shown");
            TlsDial.Answer edge = caller.say(port, runtime, "GET /tunnel/v1 HTTP/1.1", "Host: " + runtime,
                    "Connection: close");
            assertThat(edge.asked()).isFalse();
            assertThat(edge.answer()).startsWith("HTTP/1.1 404 ").contains("unknown-host");
            for (String path : List.of("/", "/tunnel/v2", "/tunnel/v10", "/healthz")) {
                assertThat(caller.say(port, Platform.DOMAIN, "GET " + path + " HTTP/1.1",
                        "Host: " + Platform.DOMAIN, "Connection: close").answer()).as(path)
                        .startsWith("HTTP/1.1 404 ")
                        .contains("unknown-host");
            }
        }
    }

    /** Callers' connections end with the server's first words, tunnels later. */
    @Test
    void aStopOfOnePortEndsBoth() throws Exception {
        Platform platform = Platform.start(folder, Listeners::onOnePort);
        platform.server.stop(Duration.ofSeconds(5)).block(PATIENCE);

        assertThat(platform.server.edgeConnections() + platform.server.tunnelConnections()).isZero();
    }

    @Test
    void plainListenersServeEnrolmentTunnelAndCallersOfTheirBalancer() throws Exception {
        try (Platform platform = Platform.start(folder, usual -> Listeners.plain(usual, LOOPBACK));
                TlsEnd balancer = new TlsEnd(folder, () -> platform.server.tunnelAddress().port())) {
            ClientConfig usual = platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"),
                    to(), null, balancer.port());

            platform.connect(usual);
            Path certificate = usual.identityDir().resolve("client.crt");
            String first = Files.readString(certificate);
            Set<String> sessions = platform.sessions();

            assertThat(plainGet(platform.server.edgeAddress().port(), "acme-prod." + Platform.DOMAIN,
                    "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https"))
                    .contains("200 OK", "hello 192.0.2.7, 127.0.0.1 https");
            await().atMost(Listeners.CLIENT_LIFE).until(() -> !Files.readString(certificate).equals(first));
            assertThat(platform.sessions()).containsAll(sessions);
        }
    }

    @Test
    void onePlainPortServesAllOfThatToo() throws Exception {
        try (Platform platform = Platform.start(folder, usual -> Listeners.plainOnOnePort(usual, LOOPBACK));
                TlsEnd balancer = new TlsEnd(folder, () -> platform.server.edgeAddress().port())) {
            ClientConfig usual = platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"),
                    to(), null, balancer.port());

            platform.connect(usual);

            assertThat(plainGet(platform.server.edgeAddress().port(), "acme-prod.localhost"))
                    .contains("200 OK", "hello 127.0.0.1 http");
            assertThat(platform.server.tunnelConnections()).isPositive();
        }
    }

    @Test
    void whoIsNotTheBalancerIsTurnedAway() throws Exception {
        try (Platform platform = Platform.start(folder, usual -> Listeners.plain(usual, "127.0.0.2"))) {
            for (var listener : List.of(platform.server.edgeAddress(), platform.server.tunnelAddress())) {
                try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
                    assertThat(stranger.getInputStream().read()).isEqualTo(-1);
                }
                try (Socket balancer = new Socket()) {
                    balancer.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0));
                    balancer.connect(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()));
                    balancer.getOutputStream()
                            .write("GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    assertThat(balancer.getInputStream().readNBytes(12)).asString().isEqualTo("HTTP/1.1 404");
                }
            }
        }
    }

    private static String plainGet(int port, String host, String... fields) throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            String head = "GET /hello HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n"
                    + String.join("\r\n", fields) + (fields.length == 0 ? "" : "\r\n") + "\r\n";
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }
}
