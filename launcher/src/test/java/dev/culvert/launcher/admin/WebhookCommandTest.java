package dev.culvert.launcher.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.culvert.launcher.Captured;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WebhookCommandTest {
    @TempDir
    Path folder;
    private final Queue<String> answers = new ConcurrentLinkedQueue<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        Files.writeString(folder.resolve("token"), "a-token-of-some-length\n");
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        asked.add(exchange.getRequestMethod() + " "
                + exchange.getRequestURI().toString().substring("/api/v1".length()) + " "
                + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        String answer = answers.remove();
        byte[] body = answer.substring(3).strip().getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(Integer.parseInt(answer.substring(0, 3)),
                body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private Captured run(String... arguments) {
        var all = new ArrayList<>(List.of("webhook"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--admin", "http://127.0.0.1:" + server.getAddress().getPort(),
                "--admin-token-file", folder.resolve("token").toString()));
        return Captured.run(all.toArray(String[]::new));
    }

    @Test
    void aReplayGoesOnUntilAllAreDone() {
        answers.add("202 {\"replayed\":5000,\"skipped\":1,\"next\":\"5-6-2-7\"}");
        answers.add("202 {\"replayed\":20,\"skipped\":0,\"next\":null}");

        Captured replayed = run("replay", "--state", "dead", "--since", "2026-11-25T12:00:00Z", "--source",
                "argo/push", "--runtime", "acme", "prod");

        assertThat(replayed).isEqualTo(new Captured(0, "replayed 5020, skipped 1\n", ""));
        String filter = "POST /webhooks/replay {\"account\":\"acme\",\"name\":\"prod\",\"source\":\"argo/push\","
                + "\"state\":\"dead\",\"since\":\"2026-11-25T12:00:00Z\"";
        assertThat(asked).containsExactly(filter + "}", filter + ",\"next\":\"5-6-2-7\"}");
    }

    @Test
    void whatWasDoneBeforeAFailureIsTold() {
        answers.add("200 {\"purged\":5000,\"skipped\":0,\"next\":\"5-6-2-7\"}");
        answers.add("503 {\"title\":\"full\",\"detail\":\"later\"}");

        Captured purged = run("purge", "--state", "delivered", "--yes");

        assertThat(purged).isEqualTo(new Captured(69, "",
                "culvert: purged 5000 before that\nculvert: full: later (503)\n"));
    }

    @Test
    void severalIdsAreOneCallAndOneIdIsItsOwn() {
        answers.add("202 {\"replayed\":1,\"skipped\":1,\"next\":null}");
        answers.add("202 {\"id\":\"a\",\"state\":\"pending\"}");
        answers.add("204");

        assertThat(run("replay", "a", "b", "--output", "json").out())
                .isEqualTo("{\"replayed\":1,\"skipped\":1,\"next\":null}\n");
        assertThat(run("replay", "a").out()).contains("pending");
        assertThat(run("purge", "a").out()).isEqualTo("purged a\n");

        assertThat(asked).containsExactly("POST /webhooks/replay {\"ids\":[\"a\",\"b\"]}",
                "POST /webhooks/a/replay ", "DELETE /webhooks/a ");
    }

    @Test
    void aDryRunOnlyCounts() {
        answers.add("200 {\"matched\":7}");

        assertThat(run("purge", "--source", "argo/push", "--dry-run").out()).isEqualTo("7 webhooks match\n");

        assertThat(asked).containsExactly("POST /webhooks/purge {\"source\":\"argo/push\",\"dryRun\":true}");
    }

    @Test
    void aSourceOfARouterNeedsNoRuntime() {
        answers.add("204");
        answers.add("204");

        assertThat(run("pause", "argo/push").out()).isEqualTo("paused argo/push\n");
        assertThat(run("resume", "acme", "prod", "argo/push").out()).isEqualTo("resumed argo/push\n");
        assertThat(run("pause", "acme", "prod").err()).contains("two names (expected: ACCOUNT NAME SOURCE");

        assertThat(asked).containsExactly("POST /webhooks/pause {\"source\":\"argo/push\"}",
                "POST /runtimes/acme/prod/webhooks/resume {\"source\":\"argo/push\"}");
    }

    @Test
    void whatToReplayIsAQuestionOfUsage() {
        Captured captured = run("replay", "--dry-run");

        assertThat(captured.exitCode()).isEqualTo(64);
        assertThat(captured.err()).contains("replay: what (expected: an ID, --source, --state,");
        assertThat(asked).isEmpty();
    }

    @Test
    void refusalsAreToldApartFromAttempts() {
        answers.add(
                "200 {\"items\":[{\"id\":\"w1\",\"attempts\":0,\"refused\":4,\"outcome\":\"upstream-refused\"},"
                        + "{\"id\":\"w2\",\"attempts\":2,\"refused\":1,\"outcome\":\"500\"},{\"id\":\"w3\",\"attempts\":1,\"refused\":0,"
                        + "\"outcome\":\"200\"}],\"next\":null}");

        assertThat(run("list").out().lines().map(line -> line.replaceAll(" +", " "))).containsExactly(
                "ID RUNTIME SOURCE STATE ATTEMPTS OUTCOME STORED",
                "w1 - 0 upstream-refused, refused 4 times (not counted)",
                "w2 - 2 500, refused 1 time (not counted)", "w3 - 1 200");
    }

    @Test
    void aListIsATableOrWhatWasAnsweredOrTheSameAsYaml() {
        String answer = "{\"items\":[{\"id\":\"w1\",\"account\":\"acme\",\"name\":\"prod\",\"source\":\"argo/push\","
                + "\"state\":\"dead\",\"attempts\":3,\"outcome\":null}],   \"next\":\"5-6\"}";
        for (int i = 0; i < 3; i++) {
            answers.add("200 " + answer);
        }
        answers.add("503 {\"title\":\"full\"}");

        assertThat(run("list").out()).startsWith("ID  RUNTIME    SOURCE     STATE  ATTEMPTS")
                .contains("\nw1  acme/prod  argo/push  dead   3")
                .endsWith("\nmore: --next 5-6\n");
        assertThat(run("list", "--output", "json").out()).isEqualTo(answer + "\n");
        assertThat(run("list", "--output", "yaml").out()).isEqualTo("""
                items:
                  - id: w1
                    account: acme
                    name: prod
                    source: argo/push
                    state: dead
                    attempts: 3
                    outcome: null
                next: 5-6
                """);
        assertThat(run("list", "--output", "yaml"))
                .isEqualTo(new Captured(69, "title: full\n", "culvert: full (503)\n"));
        assertThat(run("list", "--output", "xml").err()).contains("table, json, yaml");
    }
}
