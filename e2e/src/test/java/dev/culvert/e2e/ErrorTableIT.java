package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.server.ServerConfig;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every row of the table of errors, produced by a running server, client and router, and read from a socket. */
class ErrorTableIT {
    /** Rows that a running platform can't be made to show at will, and the tests over sockets that show them. */
    private static final Map<Cause, String> ELSEWHERE = Map.of(Cause.DRAINING,
            "UpstreamPoolIT, EdgeUpgradeIT, EdgeServerIT", Cause.INTERNAL, "EdgeServerIT",
            Cause.BAD_SIGNATURE, "SignedWebhooksIT", Cause.UNAVAILABLE, "the App-Proxy's access tests",
            Cause.REQUEST_TIMEOUT,
            "EdgeTimeoutsIT", Cause.CONFLICT, "AdminApiIT, TwinsIT", Cause.NOT_FOUND, "RoutesIT",
            Cause.MISDIRECTED_REQUEST, "AdminListenerIT", Cause.STORE_UNAVAILABLE, "SharedDatabaseIT");
    /** Of a body of which nothing comes: the head alone is answered. */
    private static final String UNSENT = "Content-Length: 5\r\n";
    private static final String HOST = "acme-prod." + Platform.DOMAIN;

    @TempDir
    static Path folder;

    private static Platform platform;
    private static ServerSocket upstream;
    private static final CountDownLatch REACHED = new CountDownLatch(1);
    private static final Queue<Socket> SILENT = new ConcurrentLinkedQueue<>();
    private static volatile String via = "";

    @BeforeAll
    static void start() throws Exception {
        upstream = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(ErrorTableIT::serve);
        HostPort odd = HostPort.parse("127.0.0.1:" + upstream.getLocalPort());
        var router = new RoutingConfig(
                List.of(RouteConfig.of("/odd/", "http://odd"), RouteConfig.of("/tls/", "https://odd"),
                        RouteConfig.of("/refused/", "http://127.0.0.1:1"),
                        RouteConfig.of("/webhooks/{namespace}/{eventSource}/",
                                "http://{eventSource}-eventsource-svc.{namespace}.svc.cluster.local")),
                RoutingConfig.Policy.allowing(List.of()), Map.of("odd", odd));
        platform = Platform.start(folder, ErrorTableIT::impatient);
        platform.connect(platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null,
                router));
        platform.connect(platform.clientConfig("acme", "small", platform.createRuntime("acme", "small"), null,
                router));
        platform.admin(HttpMethod.PUT, "/api/v1/runtimes/acme/small/limits",
                "{\"requestsPerSecond\":1,\"maxBodyBytes\":4}");
        platform.connect(
                platform.clientConfig("acme", "narrow", platform.createRuntime("acme", "narrow"), null,
                        router));
        platform.admin(HttpMethod.PUT, "/api/v1/runtimes/acme/narrow/limits", "{\"maxStreams\":1}");
        platform.createRuntime("acme", "away");
    }

    private static ServerConfig impatient(ServerConfig usual) {
        Duration usually = Duration.ofSeconds(60);
        ServerConfig.Edge edge = usual.edge();
        CallerLimits limits = edge.limits()
                .within(Duration.ofSeconds(10), usually, Duration.ofSeconds(2), usually);
        return new ServerConfig(
                new ServerConfig.Edge(edge.listen(), edge.domain(), edge.tls(), List.of(), false, limits,
                        List.of(), false, false, false),
                usual.tunnel(), usual.admin(), usual.dataDir(), usual.store());
    }

    @AfterAll
    static void stop() throws IOException {
        upstream.close();
        platform.close();
    }

    /** Does what the path says. */
    private static void serve() {
        while (!upstream.isClosed()) {
            try {
                Socket socket = upstream.accept();
                Thread.ofVirtual().start(() -> answer(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void answer(Socket socket) {
        try {
            var head = new StringBuilder();
            for (int c = socket.getInputStream().read(); c >= 0; c = socket.getInputStream().read()) {
                head.append((char) c);
                if (head.indexOf("\r\n\r\n") > 0 || head.charAt(0) == 22) {
                    break;
                }
            }
            String text = head.toString();
            if (text.contains(" /odd/silent")) {
                SILENT.add(socket); // a socket that nobody refers to is closed with the next collection
                REACHED.countDown();
                return; // open until the other side closes it
            }
            if (text.contains("Via: ")) {
                via = text.substring(text.indexOf("Via: "), text.indexOf("\r\n", text.indexOf("Via: ")));
            }
            String answer = text.contains(" /odd/ok")
                    ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                    : text.contains(" /odd/reset") ? "" : "I am no HTTP\r\n\r\n";
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String send(String line, String host, String more) {
        try {
            return RawCaller.exchange(platform,
                    line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String get(String path) {
        return send("GET " + path, HOST, "");
    }

    private static String answerOf(Cause cause) throws Exception {
        return switch (cause) {
            case UNKNOWN_HOST -> send("GET /", "acme-none." + Platform.DOMAIN, "");
            case NO_ROUTE -> get("/nowhere");
            case NOT_ALLOWED -> send("POST /webhooks/a/b", HOST, UNSENT);
            case NO_TUNNEL -> send("POST /", "acme-away." + Platform.DOMAIN, UNSENT);
            case OVERLOADED -> second("narrow");
            case TUNNEL_LOST -> lost();
            case UPSTREAM_REFUSED -> get("/refused/");
            case UPSTREAM_RESET -> get("/odd/reset");
            case UPSTREAM_TLS -> get("/tls/");
            case UPSTREAM_BAD_RESPONSE -> get("/odd/nonsense");
            case UPSTREAM_TIMEOUT -> get("/odd/silent");
            case BAD_REQUEST -> get("/a/../b");
            case UNAUTHORIZED -> RawCaller.exchange(platform.server.tunnelAddress().port(),
                    String.join("\r\n", "GET /tunnel/v1 HTTP/1.1", "Host: localhost", "Connection: Upgrade",
                            "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                            "Sec-WebSocket-Protocol: culvert.v1",
                            "", ""));
            case METHOD_NOT_ALLOWED -> send("TRACE /odd/ok", HOST, "");
            case BODY_TOO_LARGE ->
                send("POST /odd/ok", "acme-small." + Platform.DOMAIN, UNSENT);
            case URI_TOO_LONG -> get("/" + "x".repeat(17 << 10));
            case UPGRADE_REQUIRED -> RawCaller.exchange(platform.server.tunnelAddress().port(),
                    "GET /tunnel/v1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
            case RATE_LIMITED -> {
                send("GET /odd/ok", "acme-small." + Platform.DOMAIN, "");
                yield send("GET /odd/ok", "acme-small." + Platform.DOMAIN, "");
            }
            case HEAD_TOO_LARGE -> send("GET /odd/ok", HOST, "X: " + "x".repeat(65 << 10) + "\r\n");
            case LOOP_DETECTED -> {
                assertThat(get("/odd/ok")).startsWith("HTTP/1.1 200 ");
                yield send("GET /odd/ok", HOST, via + "\r\n");
            }
            case BAD_SIGNATURE, CONFLICT, DRAINING, INTERNAL, MISDIRECTED_REQUEST, NOT_FOUND, REQUEST_TIMEOUT,
                    STORE_UNAVAILABLE, UNAVAILABLE ->
                throw new IllegalArgumentException(cause + ": " + ELSEWHERE.get(cause));
        };
    }

    /** The answer to a second request, while the first is still there. */
    private static String second(String runtime) throws Exception {
        String host = "acme-" + runtime + "." + Platform.DOMAIN;
        CompletableFuture<String> first = CompletableFuture
                .supplyAsync(() -> send("GET /odd/silent", host, ""));
        for (int tries = 0; tries < 1000; tries++) {
            String answer = send("GET /odd/ok", host, "");
            if (!answer.startsWith("HTTP/1.1 200 ")) {
                return answer;
            } else if (first.isDone()) {
                break; // it came while the other one was there
            }
        }
        return first.get(20, TimeUnit.SECONDS);
    }

    /** Of a request that may not be sent again, whose tunnel goes. */
    private static String lost() throws Exception {
        CompletableFuture<String> answer = CompletableFuture
                .supplyAsync(() -> send("POST /odd/silent", HOST, "Content-Length: 0\r\n"));
        assertThat(REACHED.await(20, TimeUnit.SECONDS)).isTrue();
        while (!answer.isDone()) {
            platform.disconnectAll();
        }
        return answer.get(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(value = Cause.class, mode = EnumSource.Mode.EXCLUDE, names = {"DRAINING", "INTERNAL",
            "BAD_SIGNATURE",
            "REQUEST_TIMEOUT", "CONFLICT", "NOT_FOUND", "UNAVAILABLE", "MISDIRECTED_REQUEST",
            "STORE_UNAVAILABLE"})
    void everyRowIsProduced(Cause cause) throws Exception {
        String answer = answerOf(cause);

        assertThat(answer).startsWith("HTTP/1.1 " + cause.status() + " ")
                .containsIgnoringCase("content-type: application/problem+json")
                .contains("\"type\":\"" + cause.type() + "\"", "\"title\":\"" + cause.title() + "\"",
                        "\"status\":" + cause.status() + ",", "\"detail\":\"", "\"hop\":\"",
                        "\"requestId\":\"");
    }

    @Test
    void everyCauseHasItsRowOrItsReason() {
        Set<Cause> shown = EnumSet.allOf(Cause.class);
        shown.removeAll(ELSEWHERE.keySet());

        assertThat(shown).hasSize(Cause.values().length - ELSEWHERE.size());
    }
}
