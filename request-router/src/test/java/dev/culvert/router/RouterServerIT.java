package dev.culvert.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.HostPort;
import dev.culvert.http.net.ListenException;
import dev.culvert.relay.route.Verification;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;

/** A router in its own pod, over real sockets. */
class RouterServerIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");

    private static final String MARKED = post("Host: x", "Culvert-Webhook-Id: w1",
            "Culvert-Delivery-Attempt: 3", "X-Forwarded-For: 198.51.100.1");

    private final Sinks.Empty<Void> slow = Sinks.empty();
    private DisposableServer appProxy;
    private RouterServer router;

    @BeforeEach
    void start() {
        Leaks.watch();
        appProxy = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .get("/app-proxy/slow",
                                (request, response) -> response.sendString(slow.asMono().thenReturn("late")))
                        .post("/app-proxy/fields", (request, response) -> response.sendString(Mono.just(
                                request.requestHeaders().get("culvert-webhook-id") + " "
                                        + request.requestHeaders().get("culvert-delivery-attempt") + " "
                                        + request.requestHeaders().get("x-forwarded-for") + " "
                                        + request.requestHeaders().get("host")))))
                .bindNow();
        router = started(RouterConfig.of(ANY, routing()));
    }

    private RoutingConfig routing() {
        return new RoutingConfig(List.of(), Policy.allowing(List.of("argo/*")),
                Map.of("cap-app-proxy", new HostPort("127.0.0.1", appProxy.port())));
    }

    private static RouterServer started(RouterConfig config) {
        return Objects.requireNonNull(RouterServer.start(config).block(PATIENCE));
    }

    @AfterEach
    void stop() {
        slow.tryEmitEmpty();
        router.stop(Duration.ZERO).block(PATIENCE);
        appProxy.disposeNow();
    }

    private String raw(RouterServer to, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), to.address().port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String post(String... fields) {
        return "POST /app-proxy/fields HTTP/1.1\r\n" + String.join("\r\n", fields)
                + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    }

    private String get(String path) throws IOException {
        return raw(router,
                "GET " + path + " HTTP/1.1\r\nHost: any.example:80\r\nConnection: close\r\n\r\n");
    }

    @Test
    void everyHostIsServed() throws Exception {
        String answer = raw(router, post("Host: Some.Ingress.example", "X-Forwarded-For: 198.51.100.1"));

        assertThat(answer).startsWith("HTTP/1.1 200 ").contains("null null 127.0.0.1 Some.Ingress.example");
    }

    @Test
    void healthIsAnsweredByTheRouterItselfAndNothingBelowIt() throws Exception {
        assertThat(get("/healthz")).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\nok\n");
        assertThat(get("/readyz?verbose")).startsWith("HTTP/1.1 200 ").endsWith("\r\n\r\nok\n");
        assertThat(get("/healthz/x")).startsWith("HTTP/1.1 404 ").contains("no-route");
        assertThat(get("/healthz%2f")).startsWith("HTTP/1.1 404 ");
        assertThat(raw(router,
                "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ");
    }

    private static String health(HttpClient client, RouterServer router, String path) throws Exception {
        return client
                .send(HttpRequest.newBuilder(URI.create("http://" + router.healthAddress() + path)).build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void metricsAreForOperatorsOnly() throws Exception {
        RouterServer watched = started(RouterConfig.of(ANY, routing())
                .with(null, new RouterConfig.Health(ANY), null));
        try (HttpClient client = HttpClient.newHttpClient()) {
            assertThat(get("/metrics")).startsWith("HTTP/1.1 404 ");
            assertThat(router.healthAddress()).isNull();

            assertThat(health(client, watched, "/metrics")).contains("culvert_upstream_connections 0.0");
            assertThat(health(client, watched, "/")).startsWith("Culvert request-router: ")
                    .contains("/readyz ");
        } finally {
            watched.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void http2NeedsNoTlsWithPriorKnowledge() {
        String answer = reactor.netty.http.client.HttpClient.create()
                .protocol(HttpProtocol.H2C)
                .get()
                .uri("http://" + router.address() + "/healthz")
                .responseContent()
                .aggregate()
                .asString()
                .block(PATIENCE);

        assertThat(answer).isEqualTo("ok\n");
    }

    @Test
    void aTrustedProxyIsBelievedWhoCalledAndNotThatAWebhookIsStored() throws Exception {
        RouterServer behind = started(RouterConfig.of(ANY, routing())
                .behind(List.of("127.0.0.1"), false)
                .afterInboxes(List.of("192.0.2.0/24")));

        try {
            assertThat(raw(behind, MARKED)).contains("null null 198.51.100.1, 127.0.0.1 x");
        } finally {
            behind.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void aPeerWithAnInboxIsBelievedThatAWebhookIsStoredAndNotWhoCalled() throws Exception {
        RouterServer after = started(RouterConfig.of(ANY, routing()).afterInboxes(List.of("127.0.0.0/8")));

        try {
            assertThat(raw(router, MARKED)).contains("null null 127.0.0.1 x");
            assertThat(raw(after, MARKED)).contains("w1 3 127.0.0.1 x");
        } finally {
            after.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void trustedProxiesHoldFromTheStart() throws Exception {
        RoutingConfig guarded = new RoutingConfig(List.of(
                new RouteConfig("/app-proxy/", "http://127.0.0.1:" + appProxy.port(), null, List.of(),
                        Map.of(),
                        false, null, null, null, null, RouteConfig.Order.SOURCE, null, null, null, 0,
                        List.of("198.51.100.0/24"))),
                Policy.refusing(), Map.of());
        RouterServer behind = started(RouterConfig.of(ANY, guarded).behind(List.of("127.0.0.1"), false));
        String request = post("Host: x", "X-Forwarded-For: 198.51.100.1");

        try {
            assertThat(raw(behind, request)).startsWith("HTTP/1.1 200 ");
            behind.reload(RouterConfig.of(ANY, guarded), "test");

            assertThat(raw(behind, request)).as("the listener goes on to believe it, and so do the routes")
                    .startsWith("HTTP/1.1 200 ");
        } finally {
            behind.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void aProxyHeaderTellsTheCallersAddress() throws Exception {
        RouterServer behind = started(RouterConfig.of(ANY, routing()).behind(List.of("127.0.0.1"), true));

        try {
            assertThat(raw(behind, "PROXY TCP4 203.0.113.9 127.0.0.1 4711 80\r\n" + post("Host: x")))
                    .contains("203.0.113.9 x");
        } finally {
            behind.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void aDrainLetsExchangesEndAndSaysThatItIsNotReady() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient();
                Socket asking = new Socket(InetAddress.getLoopbackAddress(), router.address().port())) {
            asking.setSoTimeout(20_000);
            var late = client.sendAsync(
                    HttpRequest.newBuilder(URI.create("http://" + router.address() + "/app-proxy/slow"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            Awaitility.await().until(() -> router.connections() == 2);

            var stopped = router.stop(Duration.ofSeconds(10)).toFuture();
            asking.getOutputStream()
                    .write("GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            String ready = new String(asking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            slow.tryEmitEmpty();

            assertThat(ready).startsWith("HTTP/1.1 503 ").endsWith("draining\n");
            assertThat(late.get().body()).isEqualTo("late");
            stopped.get();
        }
    }

    @Test
    void aWebhookIsStoredWhileItsEventSourceIsAwayUnlessAnotherInboxHasIt(@TempDir Path folder)
            throws Exception {
        var away = new RoutingConfig(List.of(), Policy.allowing(List.of("argo/*")),
                Map.of("push-eventsource-svc.argo.svc.cluster.local", new HostPort("127.0.0.1", 1)));
        RouterServer storing = started(RouterConfig.of(ANY, away)
                .afterInboxes(List.of("127.0.0.1"))
                .with(null, null, folder.resolve("inbox")));
        String webhook = post("Host: x").replace("/app-proxy/fields", "/webhooks/argo/push");
        String marked = post("Host: x", "Culvert-Webhook-Id: w1").replace("/app-proxy/fields",
                "/webhooks/argo/push");

        try {
            assertThat(raw(storing, webhook)).startsWith("HTTP/1.1 202 ").contains("Culvert-Webhook-Id: ");
            assertThat(raw(storing, marked)).startsWith("HTTP/1.1 502 ").contains("upstream-refused");
            assertThat(raw(storing, webhook.replace("argo/push", "ci/push"))).startsWith("HTTP/1.1 403 ");
        } finally {
            storing.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void aMarkThatAProxyForwardsGetsAroundNeitherSignatureNorInbox(@TempDir Path folder) throws Exception {
        var signed = new RouteConfig("/webhooks/{namespace}/{eventSource}/",
                "http://{eventSource}.{namespace}",
                null, List.of(), Map.of(), false, null, null, null, null, RouteConfig.Order.SOURCE,
                new RouteConfig.Verify(Verification.Provider.GITLAB,
                        Files.writeString(folder.resolve("secret"), "hush\n"), false),
                null, null, 0, List.of());
        var away = new RoutingConfig(List.of(signed), Policy.allowing(List.of("argo/*")),
                Map.of("push.argo", new HostPort("127.0.0.1", 1)));
        RouterServer behind = started(RouterConfig.of(ANY, away)
                .behind(List.of("127.0.0.1"), false)
                .with(null, null, folder.resolve("inbox")));
        String unsigned = MARKED.replace("/app-proxy/fields", "/webhooks/argo/push");

        try {
            assertThat(raw(behind, unsigned)).startsWith("HTTP/1.1 401 ").contains("bad-signature");
            assertThat(raw(behind, unsigned.replace("Host: x", "Host: x\r\nX-Gitlab-Token: hush")))
                    .startsWith("HTTP/1.1 202 ")
                    .doesNotContain("w1");
        } finally {
            behind.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void whatThePolicyRefusesIsAuditedThoughAnInboxStandsInFront(@TempDir Path folder) throws Exception {
        RouterServer storing = started(RouterConfig.of(ANY, routing()).with(null, null, folder));

        try {
            assertThat(
                    raw(storing, post("Host: x").replace("/app-proxy/fields", "/webhooks/ci/push?secret=1")))
                    .startsWith("HTTP/1.1 403 ")
                    .contains("\"hop\":\"router\"");
        } finally {
            storing.stop(Duration.ZERO).block(PATIENCE);
        }

        assertThat(Files.readString(folder.resolve("audit-refused.log"))).as("written when it has ended")
                .contains("/webhooks/ci/push\"")
                .doesNotContain("secret");
    }

    @Test
    void aReloadMayBringMoreDurableRoutesThanAServerIsToldOf(@TempDir Path folder) throws Exception {
        RouterServer storing = started(RouterConfig.of(ANY, routing()).with(null, null, folder));
        String webhook = post("Host: x").replace("/app-proxy/fields", "/webhooks/h2000");
        List<RouteConfig> routes = IntStream.rangeClosed(0, 2000)
                .mapToObj(i -> RouteConfig.of("/webhooks/h" + i + "/", "http://127.0.0.1:1"))
                .toList();

        try {
            assertThat(raw(storing, webhook)).startsWith("HTTP/1.1 404 ");
            storing.reload(RouterConfig.of(ANY, new RoutingConfig(routes, Policy.refusing(), Map.of())),
                    "test");

            assertThat(raw(storing, webhook)).startsWith("HTTP/1.1 202 ");
        } finally {
            storing.stop(Duration.ZERO).block(PATIENCE);
        }
    }

    @Test
    void anAddressInUseIsAnError() {
        assertThatThrownBy(() -> started(RouterConfig.of(router.address(), routing())))
                .isInstanceOf(ListenException.class);
    }
}
