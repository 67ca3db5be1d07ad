package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

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
            assertThat(lines.get(1)).isEqualTo("event: revoked");
            assertThat(lines.get(2)).startsWith("data: {\"at\":\"")
                    .endsWith("\"account\":\"acme\",\"name\":\"prod\",\"tunnel\":null,\"generation\":0,"
                            + "\"remote\":null,\"cause\":\"by an operator\"}");
            assertThat(lines.get(3)).isEqualTo("event: stopping");
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
        var calls = new EventCalls(new ServerEvents(new MovableClock()));

        var response = (dev.culvert.edge.spi.EdgeResponse.Http) java.util.Objects
                .requireNonNull(calls.stream(Duration.ofMillis(10)).block());

        Flux<String> body = response.body().map(bytes -> {
            String text = bytes.toString(java.nio.charset.StandardCharsets.UTF_8);
            bytes.release();
            return text;
        });
        assertThat(body.take(3).collectList().block(Duration.ofSeconds(10))).containsOnly(":\n\n");
    }
}
