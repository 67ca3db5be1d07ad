package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that stops while somebody watches its events. */
class WatchedStopIT {
    private static final URI NOWHERE = URI.create("http://127.0.0.1:9");
    private static final Duration GRACE = Duration.ofSeconds(3);

    @TempDir
    Path folder;

    @Test
    void aWatcherSeesTheEndAndHoldsNothingUp() throws Exception {
        Platform platform = Platform.start(folder);
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<Stream<String>> events = http.send(HttpRequest
                    .newBuilder(URI.create("http://" + platform.server.adminAddress() + "/api/v1/events"))
                    .header("Authorization", "Bearer " + platform.adminToken())
                    .build(), BodyHandlers.ofLines());
            var seen = CompletableFuture.supplyAsync(() -> events.body()
                    .filter(line -> line.startsWith("event: "))
                    .map(line -> line.substring(7))
                    .toList(), Thread::startVirtualThread);
            platform.connect("acme", "prod", NOWHERE);
            await().until(() -> platform.sessions().size() == 2);

            long began = System.nanoTime();
            platform.server.stop(GRACE).block(GRACE.plusSeconds(20));
            Duration took = Duration.ofNanos(System.nanoTime() - began);

            // A body that was cut would have failed here.
            List<String> words = seen.get(10, TimeUnit.SECONDS);
            assertThat(words).startsWith("created", "enrolled", "connected", "connected", "stopping")
                    .containsOnlyOnce("stopping")
                    .endsWith("disconnected");
            assertThat(words.stream().filter("disconnected"::equals)).hasSize(2);
            assertThat(words.subList(words.indexOf("stopping"), words.size())).doesNotContain("connected");
            assertThat(took).isLessThan(GRACE.plusSeconds(5));
        } finally {
            platform.close();
        }
    }
}
