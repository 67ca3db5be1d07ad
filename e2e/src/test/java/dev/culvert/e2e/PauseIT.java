package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import io.netty.handler.codec.http.HttpMethod;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/** A client that its operator pauses and resumes. */
class PauseIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private static String answer(HttpMethod method, HostPort health, String path,
            Map<String, String> fields) {
        return HttpClient.create()
                .headers(headers -> fields.forEach(headers::set))
                .request(method)
                .uri("http://" + health + path)
                .responseSingle((head, body) -> body.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private static String control(TunnelClient client, String path) {
        return answer(HttpMethod.POST, client.healthAddress(), path, Map.of("culvert-control", "1")).strip();
    }

    private static String get(TunnelClient client, String path) {
        return answer(HttpMethod.GET, client.healthAddress(), path, Map.of());
    }

    private static int status(HttpClient caller) {
        return caller.get().uri("/").response().blockOptional(PATIENCE).orElseThrow().status().code();
    }

    @Test
    void whatIsInFlightEndsNothingNewComesAndResumingBringsTheTunnelBack() throws Exception {
        Sinks.One<String> late = Sinks.one();
        var arrived = new CountDownLatch(1);
        DisposableServer upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes.get("/late", (request, response) -> {
                    arrived.countDown();
                    return response.sendString(late.asMono());
                }).get("/", (request, response) -> response.sendString(Mono.just("hello"))))
                .bindNow();
        try (Platform platform = Platform.start(folder)) {
            TunnelClient client = platform.connect("acme", "prod",
                    URI.create("http://127.0.0.1:" + upstream.port()));
            HttpClient caller = platform.caller("acme", "prod");
            Mono<String> inFlight = caller.get()
                    .uri("/late")
                    .responseContent()
                    .aggregate()
                    .asString()
                    .cache();
            inFlight.subscribe();
            assertThat(arrived.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

            assertThat(control(client, "/pause")).isEqualTo("204");
            assertThat(control(client, "/pause")).isEqualTo("204");

            assertThat(get(client, "/readyz")).startsWith("503 ").contains("paused");
            assertThat(get(client, "/healthz")).startsWith("200 ");
            assertThat(get(client, "/status")).contains("\"state\":\"paused\"");
            assertThat(get(client, "/metrics")).contains("culvert_client_paused 1.0");
            late.tryEmitValue("at last").orThrow();
            assertThat(inFlight.block(PATIENCE)).isEqualTo("at last");
            await().atMost(PATIENCE).until(() -> platform.sessions().isEmpty());
            assertThat(status(caller)).isEqualTo(503);
            assertThat(platform.sessions()).isEmpty();

            assertThat(control(client, "/resume")).isEqualTo("204");
            assertThat(control(client, "/resume")).isEqualTo("204");

            await().atMost(PATIENCE).until(() -> platform.sessions().size() == 2);
            assertThat(status(caller)).isEqualTo(200);
            assertThat(get(client, "/readyz")).startsWith("200 ");
            assertThat(get(client, "/metrics")).contains("culvert_client_paused 0.0");
        } finally {
            upstream.disposeNow();
        }
    }

    @Test
    void onlyThisMachinesOwnCommandsAreHeard() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            TunnelClient client = platform.connect("acme", "prod", URI.create("http://127.0.0.1:1"));
            HostPort health = client.healthAddress();

            assertThat(answer(HttpMethod.GET, health, "/pause", Map.of("culvert-control", "1")))
                    .startsWith("405 ");
            // A web page can send a POST, but not this field; or have its own name resolved to 127.0.0.1.
            assertThat(answer(HttpMethod.POST, health, "/pause", Map.of())).startsWith("403 ");
            assertThat(answer(HttpMethod.POST, health, "/pause",
                    Map.of("culvert-control", "1", "host", "evil.example:" + health.port())))
                    .startsWith("403 ");

            assertThat(get(client, "/status")).contains("\"state\":\"connected\"");
        }
    }

    @Test
    void aPausedClientStaysSoWhenItIsStartedAnewAndTheOwnerCanReadWhoDidIt() throws Exception {
        try (Platform platform = Platform.start(folder)) {
            TunnelClient first = platform.connect("acme", "prod", URI.create("http://127.0.0.1:1"));
            var config = platform.clientConfig("acme", "prod", null, URI.create("http://127.0.0.1:1"), null);
            assertThat(control(first, "/pause/now")).isEqualTo("204");
            await().atMost(PATIENCE).until(() -> platform.sessions().isEmpty());
            first.stop(Duration.ZERO).block(PATIENCE);

            TunnelClient second = platform.start(config, event -> {});

            assertThat(get(second, "/status")).contains("\"state\":\"paused\"");
            assertThat(control(second, "/resume")).isEqualTo("204");
            await().atMost(PATIENCE).until(() -> platform.sessions().size() == 2);
            assertThat(config.identityDir().resolve("paused")).doesNotExist();
            second.stop(Duration.ZERO).block(PATIENCE);
            assertThat(Files.readAllLines(config.identityDir().resolve("audit-changes.log")))
                    .satisfiesExactly(
                            line -> assertThat(line).contains("\"action\":\"pause\"",
                                    "\"user\":\"operator at 127.0.0.1\""),
                            line -> assertThat(line).contains("\"action\":\"resume\""));
        }
    }
}
