package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The inbox of a router, operated by commands: the router and each command are processes of their own. */
class RouterInboxIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Pattern REPLAYED = Pattern.compile("replayed ([0-9]+)\n");
    private static final int MANY = 500;

    @TempDir
    Path folder;
    private final HttpClient client = HttpClient.newHttpClient();
    private final List<String> received = new CopyOnWriteArrayList<>();
    private volatile int status = 400;
    private DisposableServer eventSource;
    private ServerProcess router;

    @BeforeEach
    void start() throws IOException {
        eventSource = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> {
                    if (status == 200) {
                        received.add(request.uri());
                    }
                    return response.status(HttpResponseStatus.valueOf(status)).send();
                })
                .bindNow();
        Path config = Files.writeString(folder.resolve("router.yaml"), """
                listen: "127.0.0.1:0"
                dataDir: data
                admin: { listen: "127.0.0.1:0" }
                policy: { webhooks: { allow: ["argo/*"] } }
                resolve:
                  push-eventsource-svc.argo.svc.cluster.local: "127.0.0.1:PORT"
                  other-eventsource-svc.argo.svc.cluster.local: "127.0.0.1:PORT"
                """.replace("PORT", Integer.toString(eventSource.port())));
        router = ServerProcess.part("", List.of("router", "--config", config.toString()));
    }

    @AfterEach
    void stop() {
        router.close();
        eventSource.disposeNow();
        client.close();
    }

    private void post(String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://" + router.address("listen") + path))
                .POST(BodyPublishers.ofString("{}"))
                .build();
        assertThat(client.send(request, BodyHandlers.discarding()).statusCode()).isEqualTo(status);
    }

    private Process begin(String... arguments) throws IOException {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                        System.getProperty("java.class.path"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                        "dev.culvert.launcher.Main", "webhook"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--admin", "http://" + router.address("admin"), "--admin-token-file",
                folder.resolve("data/admin.token").toString()));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static String end(Process process) throws Exception {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    private String culvert(String... arguments) throws Exception {
        return end(begin(arguments));
    }

    private String dead(String... options) throws Exception {
        var arguments = new ArrayList<>(List.of("purge", "--state", "dead", "--dry-run"));
        arguments.addAll(List.of(options));
        return culvert(arguments.toArray(String[]::new));
    }

    @Test
    void whatDiedSinceNoonIsDeliveredOnceInOrder() throws Exception {
        for (int i = 0; i < 5; i++) {
            post("/webhooks/argo/push/early" + i);
        }
        await().atMost(PATIENCE).until(() -> dead().equals("5 webhooks match\n"));
        Instant noon = Instant.now().truncatedTo(ChronoUnit.MILLIS).plusMillis(1);
        await().until(() -> Instant.now().isAfter(noon));
        for (int i = 0; i < MANY; i++) {
            post("/webhooks/argo/push/" + i);
        }
        for (int i = 0; i < 5; i++) {
            post("/webhooks/argo/other/" + i);
        }
        await().atMost(PATIENCE).until(() -> dead().equals(MANY + 10 + " webhooks match\n"));
        status = 200;
        String[] replay = {"replay", "--state", "dead", "--since", noon.toString(), "--source", "argo/push"};

        Process one = begin(replay);
        Process another = begin(replay);

        assertThat(replayed(end(one)) + replayed(end(another))).isEqualTo(MANY);
        await().atMost(PATIENCE).until(() -> received.size() >= MANY);
        await().atMost(PATIENCE)
                .until(() -> culvert("list", "--state", "pending").lines().count() == 1); // its head
        assertThat(received).containsExactlyElementsOf(
                IntStream.range(0, MANY).mapToObj(i -> "/webhooks/argo/push/" + i).toList());
        assertThat(dead("--source", "argo/push")).isEqualTo("5 webhooks match\n");
        assertThat(dead("--source", "argo/other")).isEqualTo("5 webhooks match\n");
        assertThat(Files.readAllLines(folder.resolve("data/audit-changes.log"))).filteredOn(
                line -> line.contains("\"webhooks replayed\""))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).contains(
                        ": argo/push, dead, since " + noon, "\"user\":\"admin\"", "\"decision\":\"allowed\""))
                .satisfies(lines -> assertThat(
                        counted(lines.getFirst()) + counted(lines.getLast())).isEqualTo(MANY));
    }

    private static int replayed(String output) {
        Matcher found = REPLAYED.matcher(output);
        assertThat(found.find()).as(output).isTrue();
        return Integer.parseInt(found.group(1));
    }

    private static int counted(String line) {
        Matcher found = Pattern.compile("\"object\":\"([0-9]+): ").matcher(line);
        assertThat(found.find()).as(line).isTrue();
        return Integer.parseInt(found.group(1));
    }

    @Test
    void aSourceIsPausedAndResumedAndOneWebhookShownReplayedAndForgotten() throws Exception {
        status = 202;
        assertThat(culvert("pause", "argo/push")).isEqualTo("paused argo/push\n");
        post("/webhooks/argo/push/1");
        String row = culvert("list", "--source", "argo/push").lines().toList().getLast();
        assertThat(row).contains(" - ", " argo/push ", " pending ");
        String id = row.substring(0, row.indexOf(' '));
        status = 200;

        assertThat(culvert("resume", "argo/push")).isEqualTo("resumed argo/push\n");
        await().atMost(PATIENCE).until(() -> received.size() == 1);
        await().atMost(PATIENCE).until(() -> culvert("show", id).contains("delivered"));
        assertThat(culvert("replay", id)).contains(id, "pending");
        await().atMost(PATIENCE).until(() -> received.size() == 2);
        assertThat(culvert("purge", id)).isEqualTo("purged " + id + "\n");
        assertThat(culvert("list").lines()).hasSize(1);
    }
}
