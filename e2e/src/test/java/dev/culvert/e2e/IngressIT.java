package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.router.RouterConfig;
import dev.culvert.router.RouterServer;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;

/** What passes through nginx and HAProxy with their configurations of deploy/ingress to a router, and what does not. */
class IngressIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final List<String> SHOWN = List.of("x-forwarded-for", "x-forwarded-proto",
            "x-forwarded-host", "forwarded", "culvert-webhook-id", "culvert-delivery-attempt");

    @TempDir
    private Path folder;

    private final CompletableFuture<Void> goOn = new CompletableFuture<>();
    private final CompletableFuture<Void> firstBytes = new CompletableFuture<>();
    private DisposableServer upstream;
    private RouterServer router;
    private Platform platform;

    @BeforeEach
    void start() {
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .get("/app-proxy/fields",
                                (request, response) -> response.sendString(Mono.just(shown(request))))
                        .get("/app-proxy/events", (request, response) -> response.sse()
                                .sendString(Flux.just("data: one\n\n")
                                        .concatWith(Mono.fromFuture(goOn).thenReturn("data: two\n\n")),
                                        StandardCharsets.UTF_8))
                        .post("/app-proxy/upload", (request, response) -> response.sendString(request
                                .receive()
                                .doOnNext(part -> firstBytes.complete(null))
                                .map(part -> (long) part.readableBytes())
                                .reduce(0L, Long::sum)
                                .map(String::valueOf)))
                        .ws("/app-proxy/ws", (in, out) -> out.sendString(Mono.just("hello")).then()))
                .bindNow();
        platform = Platform.start(folder); // for its certificates
        var routing = new RoutingConfig(List.of(), Policy.refusing(),
                Map.of("cap-app-proxy", new HostPort("127.0.0.1", upstream.port())));
        router = Objects.requireNonNull(
                RouterServer.start(RouterConfig.of(ANY, routing).behind(List.of("127.0.0.1"), false))
                        .block(PATIENCE));
    }

    private static String shown(HttpServerRequest request) {
        return String.join(";",
                SHOWN.stream().map(name -> String.valueOf(request.requestHeaders().get(name))).toList());
    }

    @AfterEach
    void stop() {
        goOn.complete(null);
        router.stop(Duration.ZERO).block(PATIENCE);
        platform.close();
        upstream.disposeNow();
    }

    private Ingress ingress(String name) throws IOException {
        return name.equals("nginx")
                ? Ingress.nginx(folder, router.address())
                : Ingress.haproxy(folder, "haproxy.cfg", router.address());
    }

    private static void send(Socket to, String text) throws IOException {
        to.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        to.getOutputStream().flush();
    }

    private static String readUntil(InputStream in, String end) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int b = in.read(); b >= 0; b = in.read()) {
            text.append((char) b);
            if (text.indexOf(end) >= 0) {
                return text.toString();
            }
        }
        return text.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nginx", "haproxy"})
    void whatACallerSaysOfItsOriginIsReplacedAndMarksAreDropped(String name) throws Exception {
        try (Ingress ingress = ingress(name); Socket socket = Wire.tls(ingress.port())) {
            send(socket, String.join("\r\n", "GET /app-proxy/fields HTTP/1.1", "Host: app.example",
                    "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: gopher",
                    "X-Forwarded-Host: evil.example", "Forwarded: for=192.0.2.2",
                    "Culvert-Webhook-Id: forged", "Culvert-Delivery-Attempt: 1", "Connection: close", "",
                    ""));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

            assertThat(answer).contains("127.0.0.1, 127.0.0.1;https;app.example;for=127.0.0.1;")
                    .contains(";null;null")
                    .doesNotContain("192.0.2", "evil", "forged");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nginx", "haproxy"})
    void eventsArriveOneByOne(String name) throws Exception {
        try (Ingress ingress = ingress(name); Socket socket = Wire.tls(ingress.port())) {
            send(socket, "GET /app-proxy/events HTTP/1.1\r\nHost: x\r\n\r\n");

            assertThat(readUntil(socket.getInputStream(), "data: one")).contains("text/event-stream");
            goOn.complete(null);
            assertThat(readUntil(socket.getInputStream(), "data: two")).contains("data: two");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nginx", "haproxy"})
    void aBodyArrivesWhileItIsSent(String name) throws Exception {
        int more = 8 << 20;
        try (Ingress ingress = ingress(name); Socket socket = Wire.tls(ingress.port())) {
            send(socket, "POST /app-proxy/upload HTTP/1.1\r\nHost: x\r\nContent-Length: " + (more + 5)
                    + "\r\nConnection: close\r\n\r\nfirst");
            firstBytes.get(20, TimeUnit.SECONDS);
            socket.getOutputStream().write(new byte[more]);
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

            assertThat(answer).startsWith("HTTP/1.1 200 ").contains(String.valueOf(more + 5));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nginx", "haproxy"})
    void webSocketsPass(String name) throws Exception {
        try (Ingress ingress = ingress(name);
                Wire wire = Wire.secure(ingress.port(), "x", "/app-proxy/ws")) {
            byte[] frame = wire.in().readNBytes(7);

            assertThat(new String(frame, 2, 5, StandardCharsets.US_ASCII)).isEqualTo("hello");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nginx", "haproxy"})
    void healthIsNotForCallers(String name) throws Exception {
        try (Ingress ingress = ingress(name); Socket socket = Wire.tls(ingress.port())) {
            send(socket, "GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

            assertThat(readUntil(socket.getInputStream(), "\r\n")).startsWith("HTTP/1.1 404 ");
        }
    }
}
