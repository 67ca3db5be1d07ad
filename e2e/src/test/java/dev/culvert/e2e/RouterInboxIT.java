package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.certs.CertificateAuthority;
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
import java.time.Clock;
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
    private static final Pattern MATCHED = Pattern.compile("\\{\"matched\":([0-9]+)}");
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
        var all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--admin", "http://" + router.address("admin")));
        return begin(all);
    }

    private Process begin(List<String> arguments) throws IOException {
        var command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                        System.getProperty("java.class.path"), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                        "dev.culvert.launcher.Main", "webhook"));
        command.addAll(arguments);
        command.addAll(List.of("--admin-token-file", folder.resolve("data/admin.token").toString()));
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

    /** How many are in a state, asked without a command, which takes longer. */
    private int count(String state) throws Exception {
        var request = HttpRequest
                .newBuilder(URI.create("http://" + router.address("admin") + "/api/v1/webhooks/purge"))
                .header("Authorization",
                        "Bearer " + Files.readString(folder.resolve("data/admin.token")).strip())
                .POST(BodyPublishers.ofString("{\"state\":\"" + state + "\",\"dryRun\":true}"))
                .build();
        Matcher found = MATCHED.matcher(client.send(request, BodyHandlers.ofString()).body());
        assertThat(found.matches()).isTrue();
        return Integer.parseInt(found.group(1));
    }

    private String dead(String source) throws Exception {
        return culvert("replay", "--source", source, "--dry-run");
    }

    @Test
    void whatDiedSinceNoonIsDeliveredOnceInOrder() throws Exception {
        for (int i = 0; i < 5; i++) {
            post("/webhooks/argo/push/early" + i);
        }
        await().atMost(PATIENCE).until(() -> count("dead") == 5);
        Instant noon = Instant.now().truncatedTo(ChronoUnit.MILLIS).plusMillis(1);
        await().until(() -> Instant.now().isAfter(noon));
        for (int i = 0; i < MANY; i++) {
            post("/webhooks/argo/push/" + i);
        }
        for (int i = 0; i < 5; i++) {
            post("/webhooks/argo/other/" + i);
        }
        await().atMost(PATIENCE).until(() -> count("dead") == MANY + 10);
        status = 200;
        String[] replay = {"replay", "--state", "dead", "--since", noon.toString(), "--source", "argo/push"};

        Process one = begin(replay);
        Process another = begin(replay);

        assertThat(replayed(end(one)) + replayed(end(another))).isEqualTo(MANY);
        await().atMost(PATIENCE).until(() -> received.size() >= MANY);
        await().atMost(PATIENCE).until(() -> count("pending") == 0);
        assertThat(received).containsExactlyElementsOf(
                IntStream.range(0, MANY).mapToObj(i -> "/webhooks/argo/push/" + i).toList());
        assertThat(dead("argo/push")).isEqualTo("5 webhooks match\n");
        assertThat(dead("argo/other")).isEqualTo("5 webhooks match\n");
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
        await().atMost(PATIENCE).until(() -> count("delivered") == 1);
        assertThat(culvert("show", id)).contains(id, "delivered");
        assertThat(culvert("replay", id)).contains(id, "pending");
        await().atMost(PATIENCE).until(() -> received.size() == 2);
        assertThat(culvert("purge", id)).isEqualTo("purged " + id + "\n");
        assertThat(count("delivered") + count("pending")).isZero();
    }

    @Test
    void aListenerBeyondLoopbackSpeaksTls() throws Exception {
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of("localhost"), List.of(), Duration.ofDays(1))
                .writeTo(folder.resolve("admin.crt"), folder.resolve("admin.key"));
        Path config = Files.writeString(folder.resolve("secure.yaml"), """
                listen: "127.0.0.1:0"
                dataDir: secure
                admin:
                  listen: "0.0.0.0:0"
                  tokenFile: data/admin.token
                  tls: { certificate: admin.crt, key: admin.key }
                policy: { webhooks: { allow: ["argo/*"] } }
                """);
        router.address("admin"); // its token is there
        try (var secure = ServerProcess.part("", List.of("router", "--config", config.toString()))) {
            String admin = "https://localhost:" + secure.port("admin");
            Process trusting = begin(List.of("list", "--admin", admin, "--admin-ca",
                    folder.resolve("ca.crt").toString()));
            Process strange = begin(List.of("list", "--admin", admin));

            assertThat(end(trusting).lines()).hasSize(1);
            assertThat(strange.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(strange.exitValue()).isEqualTo(69);
        }
    }
}
