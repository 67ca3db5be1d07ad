package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.AdminToken;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.relay.testing.Results;
import dev.culvert.server.admin.EventCalls;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.server.tunnel.ServerEvents;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class EventsIT {
    @TempDir
    Path folder;

    @Test
    void eventsAreServedToTheHolderOfATokenUntilTheServerStops() throws Exception {
        try (var server = new AdminServer(folder); HttpClient client = HttpClient.newHttpClient()) {
            assertThat(server.call("GET", "/api/v1/events", null, null).status()).isEqualTo(401);
            var request = HttpRequest.newBuilder(URI.create("http://" + server.address() + "/api/v1/events"))
                    .header("Authorization", "Bearer " + server.token())
                    .build();
            HttpResponse<Stream<String>> response = client.sendAsync(request, BodyHandlers.ofLines())
                    .get(10, TimeUnit.SECONDS);
            assertThat(response.headers().firstValue("content-type")).contains("text/event-stream");
            await().until(() -> server.events.isWatched());

            server.call("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"prod\"}");
            server.call("POST", "/api/v1/runtimes/acme/prod/revoke", null);
            server.events.stopping();
            server.events.end();

            List<String> lines = response.body().filter(line -> !line.isEmpty()).toList();
            assertThat(lines.get(0)).isEqualTo(":");
            assertThat(lines.get(1)).isEqualTo("event: created");
            assertThat(lines.get(3)).isEqualTo("event: revoked");
            assertThat(lines.get(4)).startsWith("data: {\"at\":\"")
                    .endsWith("\"account\":\"acme\",\"name\":\"prod\",\"tunnel\":null,\"generation\":0,"
                            + "\"remote\":null,\"cause\":\"by an operator\"}");
            assertThat(lines.get(5)).isEqualTo("event: stopping");
            await().until(() -> !server.events.isWatched());
        }
    }

    @Test
    void oneWatcherTooManyIsAnsweredOverloaded() {
        try (var server = new AdminServer(folder)) {
            List<Disposable> watchers = new ArrayList<>();
            for (int i = 0; i < ServerEvents.MAX_WATCHERS; i++) {
                watchers.add(server.events.watch().subscribe());
            }

            AdminServer.Answer answer = server.call("GET", "/api/v1/events", null);

            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.header("retry-after")).isNotEmpty();
            watchers.forEach(Disposable::dispose);
        }
    }

    @Test
    void aSilentStreamHasComments() {
        try (var server = new AdminServer(folder)) {
            Flux<String> body = watched(server, server.token());

            assertThat(body.take(3).collectList().block(Duration.ofSeconds(10))).containsOnly(":\n\n");
        }
    }

    @Test
    void theStreamEndsSoonAfterItsTokenIsWorthNothing() {
        try (var server = new AdminServer(folder)) {
            String token = server.call("POST", "/api/v1/admin-tokens",
                    "{\"name\":\"robot\",\"role\":\"read\"}").json().path("token").asText();
            Mono<List<String>> body = watched(server, token).collectList().cache();
            Disposable watching = body.subscribe();
            await().until(() -> server.events.isWatched());

            assertThat(server.call("POST", "/api/v1/admin-tokens/robot/rotate", null).status())
                    .isEqualTo(201);

            assertThat(body.block(Duration.ofSeconds(10))).contains(":\n\n");
            await().until(() -> !server.events.isWatched());
            watching.dispose();
        }
    }

    /** What a watcher with {@code token} is sent, at a heart that beats fast. */
    private static Flux<String> watched(AdminServer server, String token) {
        var access = new AdminAccess(Results.await(AdminToken.load(server.tokenFile)),
                server.store.adminTokens(),
                Clock.systemUTC());
        var request = new EdgeRequest(HttpMethod.GET, "/api/v1/events",
                new DefaultHttpHeaders().set("authorization", "Bearer " + token), Flux.empty(),
                RequestContext.of("request-1", new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)));
        AdminRoute route = new EventCalls(server.events, access, server.requests, Duration.ofMillis(10))
                .routes()
                .getFirst();
        var response = (EdgeResponse.Http) Results.await(route.call().answer(request, Map.of()));
        return response.body().map(bytes -> {
            String text = bytes.toString(StandardCharsets.UTF_8);
            bytes.release();
            return text;
        });
    }
}
