package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RoutingConfig;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Webhooks through edge, inbox, tunnel and router to an event source. */
class WebhooksIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private final List<Received> received = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private DisposableServer eventSource;
    private Platform platform;
    private TunnelClient client;

    private record Received(String uri, HttpHeaders fields, String body) {}

    private record Answer(int status, HttpHeaders fields, String body) {
        String id() {
            return fields.get("culvert-webhook-id");
        }
    }

    @BeforeEach
    void start() throws Exception {
        eventSource = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> request.receive()
                        .aggregate()
                        .asString()
                        .defaultIfEmpty("")
                        .flatMap(body -> {
                            received.add(new Received(request.uri(), request.requestHeaders().copy(), body));
                            return response.status(status).sendString(Mono.just("taken")).then();
                        }))
                .bindNow();
        platform = Platform.start(folder);
        Path token = platform.createRuntime("acme", "prod");
        connect(token);
    }

    private void connect(@Nullable Path token) throws InterruptedException {
        var router = new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of("argo/*")),
                Map.of("push-eventsource-svc.argo.svc.cluster.local",
                        HostPort.of((InetSocketAddress) eventSource.address())));
        client = platform.connect(platform.clientConfig("acme", "prod", token, null, router));
    }

    @AfterEach
    void stop() {
        platform.close();
        eventSource.disposeNow();
    }

    private Answer send(String path, String body, String... fields) {
        return platform.caller("acme", "prod").headers(all -> {
            for (int i = 0; i < fields.length; i += 2) {
                all.set(fields[i], fields[i + 1]);
            }
        })
                .post()
                .uri(path)
                .send(ByteBufFlux.fromString(Mono.just(body)))
                .responseSingle((head, content) -> content.asString()
                        .defaultIfEmpty("")
                        .map(text -> new Answer(head.status().code(), head.responseHeaders(), text)))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    private String webhook(String id) {
        return platform.admin(HttpMethod.GET, "/api/v1/webhooks/" + id, "");
    }

    private static String idIn(String json) {
        Matcher found = Pattern.compile("\"id\":\"([^\"]+)\"").matcher(json);
        assertThat(found.find()).as(json).isTrue();
        return found.group(1);
    }

    private void away() {
        client.stop(Duration.ZERO).block(PATIENCE);
        await().until(() -> platform.sessions().isEmpty());
    }

    @Test
    void theEventSourcesAnswerIsTheCallers() {
        Answer answer = send("/webhooks/argo/push/x?y=1", "{\"a\": 1}", "x-github-event", "push",
                "culvert-webhook-id", "forged", "culvert-delivery-attempt", "99");

        assertThat(answer.status).isEqualTo(200);
        assertThat(answer.body).isEqualTo("taken");
        assertThat(received).hasSize(1);
        Received one = received.getFirst();
        assertThat(one.uri).isEqualTo("/webhooks/argo/push/x?y=1");
        assertThat(one.body).isEqualTo("{\"a\": 1}");
        assertThat(one.fields.get("x-github-event")).isEqualTo("push");
        assertThat(one.fields.get("culvert-webhook-id")).isEqualTo(answer.id()).isNotEqualTo("forged");
        assertThat(one.fields.get("culvert-delivery-attempt")).isEqualTo("1");
        await().untilAsserted(() -> assertThat(webhook(answer.id())).contains("\"state\":\"delivered\"",
                "\"source\":\"argo/push\"", "\"name\":\"prod\"")); // it is recorded after the answer
    }

    @Test
    void whatComesWhileTheTunnelIsAwayArrivesInOrderWhenItIsBack() throws Exception {
        away();
        for (int i = 0; i < 5; i++) {
            Answer answer = send("/webhooks/argo/push", "n" + i);
            assertThat(answer.status).isEqualTo(202);
            assertThat(answer.body).contains("\"state\":\"pending\"");
            assertThat(idIn(answer.body)).isEqualTo(answer.id());
        }
        assertThat(received).isEmpty();
        connect(null);

        await().atMost(PATIENCE).until(() -> received.size() == 5);
        assertThat(received).extracting(Received::body).containsExactly("n0", "n1", "n2", "n3", "n4");
        await().untilAsserted(() -> assertThat(platform.admin(HttpMethod.GET,
                "/api/v1/webhooks?state=pending", "")).contains("\"items\":[]", "\"next\":null"));
    }

    @Test
    void whatTheClusterDoesNotAllowIsRefusedEvenWhenItIsAway() {
        await().until(() -> send("/webhooks/other/push", "x").status == 403); // announced a moment after the connect
        for (int i = 0; i < 2; i++) {
            Answer answer = send("/webhooks/other/push", "x");
            assertThat(answer.status).isEqualTo(403);
            assertThat(answer.body).contains("urn:culvert:problem:not-allowed", "\"hop\":\"router\"");
            away();
        }
        assertThat(received).isEmpty();
    }

    @Test
    void aRestartForgetsNeitherWebhooksNorWhatWasAnnounced() throws Exception {
        await().until(() -> send("/webhooks/other/push", "x").status == 403); // announced a moment after the connect
        away();
        String id = send("/webhooks/argo/push", "kept").id();
        platform.server.stop(Duration.ZERO).block(PATIENCE);
        platform = Platform.restart(folder);

        assertThat(webhook(id)).contains("\"state\":\"pending\"");
        assertThat(send("/webhooks/other/push", "x").status).isEqualTo(403);
        connect(null);
        await().atMost(PATIENCE).until(() -> received.size() == 1);
        assertThat(received.getFirst().body).isEqualTo("kept");
        assertThat(received.getFirst().fields.get("culvert-webhook-id")).isEqualTo(id);
    }

    @Test
    void theSameDeliveryIsNotDeliveredTwice() {
        Answer first = send("/webhooks/argo/push", "same", "x-github-delivery", "d-1");
        Answer again = send("/webhooks/argo/push", "same", "x-github-delivery", "d-1");
        Answer other = send("/webhooks/argo/push", "another", "x-github-delivery", "d-1");

        assertThat(again.id()).isEqualTo(first.id());
        assertThat(again.fields.get("culvert-webhook-duplicate")).isEqualTo("true");
        assertThat(other.id()).isNotEqualTo(first.id());
        assertThat(received).extracting(Received::body).containsExactly("same", "another");
    }

    @Test
    void aFinalRefusalIsToldAndMayBeReplayedOrDeleted() throws IOException {
        status = 401;
        Answer refused = send("/webhooks/argo/push", "x");
        assertThat(refused.status).isEqualTo(401);
        await().until(() -> webhook(refused.id()).contains("\"state\":\"dead\"")); // the caller need not wait for that

        status = 200;
        assertThat(platform.admin(HttpMethod.POST, "/api/v1/webhooks/" + refused.id() + "/replay", ""))
                .contains(refused.id());
        await().until(() -> webhook(refused.id()).contains("\"state\":\"delivered\""));
        assertThat(received).hasSize(2);
        assertThat(platform.admin(HttpMethod.DELETE, "/api/v1/webhooks/" + refused.id(), "")).isEmpty();
        assertThat(webhook(refused.id())).contains("\"status\":404");
    }

    @Test
    void theDeadOfASourceAreReplayedByFilter() {
        status = 400;
        for (int i = 0; i < 3; i++) {
            assertThat(send("/webhooks/argo/push", "n" + i).status).isEqualTo(400);
        }
        String filter = "{\"account\":\"acme\",\"name\":\"prod\",\"source\":\"argo/push\",\"state\":\"dead\"";
        await().until(() -> platform
                .admin(HttpMethod.POST, "/api/v1/webhooks/replay", filter + ",\"dryRun\":true}")
                .equals("{\"matched\":3}"));
        received.clear();
        status = 200;

        assertThat(platform.admin(HttpMethod.POST, "/api/v1/webhooks/replay", filter + "}"))
                .isEqualTo("{\"replayed\":3,\"skipped\":0,\"next\":null}");

        await().until(() -> received.size() == 3);
        assertThat(received).extracting(Received::body).containsExactly("n0", "n1", "n2");
        assertThat(platform.admin(HttpMethod.GET, "/api/v1/audit", ""))
                .contains("\"object\":\"3: acme/prod, argo/push, dead\"");
        assertThat(platform.admin(HttpMethod.POST, "/api/v1/webhooks/replay",
                "{\"source\":\"argo/push\"}")).contains("source: without a runtime");
    }

    @Test
    void aPausedEventSourceGetsNothing() {
        String of = "/api/v1/runtimes/acme/prod/webhooks/";
        assertThat(platform.admin(HttpMethod.POST, of + "pause", "{\"source\":\"argo/push\"}")).isEmpty();
        Answer stored = send("/webhooks/argo/push", "x");
        assertThat(stored.status).isEqualTo(202);
        assertThat(received).isEmpty();

        assertThat(platform.admin(HttpMethod.POST, of + "resume", "{\"source\":\"argo/push\"}")).isEmpty();
        await().until(() -> received.size() == 1);
    }

    @Test
    void otherMethodsGoDirect() {
        String text = platform.caller("acme", "prod")
                .get()
                .uri("/webhooks/argo/push")
                .responseSingle((head, body) -> Mono.just(head.status() + " "
                        + head.responseHeaders().contains("culvert-webhook-id")))
                .blockOptional(PATIENCE)
                .orElseThrow();

        assertThat(text).isEqualTo("200 OK false");
        assertThat(received.getFirst().fields.contains("culvert-delivery-attempt")).isFalse();
    }
}
