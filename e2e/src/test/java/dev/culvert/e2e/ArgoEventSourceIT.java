package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.e2e.ArgoEventSource.Source;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The double of Argo's event sources answers as they do. */
class ArgoEventSourceIT {
    private static final byte[] PUSH = "{\"ref\":\"refs/heads/main\"}".getBytes(StandardCharsets.UTF_8);

    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        client.close();
    }

    private String send(ArgoEventSource to, String method, String path, String... fields)
            throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + to.port() + path))
                .method(method, BodyPublishers.ofByteArray(PUSH));
        if (fields.length > 0) {
            request.headers(fields);
        }
        var answer = client.send(request.build(), BodyHandlers.ofString());
        return answer.statusCode() + " " + answer.body();
    }

    @Test
    void aWebhookSourceTakesItsMethodBelowItsEndpoint() throws Exception {
        try (ArgoEventSource source = ArgoEventSource.start(Source.webhook("/webhooks/argo/push"))) {
            assertThat(send(source, "POST", "/webhooks/argo/push")).isEqualTo("200 success");
            assertThat(send(source, "POST", "/webhooks/argo/push/x")).isEqualTo("200 success");
            assertThat(send(source, "GET", "/webhooks/argo/push")).isEqualTo("400 http method mismatch");
            assertThat(send(source, "POST", "/webhooks/argo/pushed")).startsWith("404 ");
            assertThat(send(source, "GET", "/health")).isEqualTo("200 ");
            source.active(false);
            assertThat(send(source, "POST", "/webhooks/argo/push")).isEqualTo("400 endpoint is inactive");

            assertThat(source.taken()).isEqualTo(2);
            assertThat(source.events().getFirst().body()).isEqualTo(PUSH);
            assertThat(source.events().getFirst().json()).contains("\"specversion\":\"1.0\"",
                    "\"subject\":\"/webhooks/argo/push\"");
        }
    }

    @Test
    void aTokenIsAskedForWhereThereIsOne() throws Exception {
        try (ArgoEventSource source = ArgoEventSource.start(Source.webhook("/x").with("secret"))) {
            assertThat(send(source, "POST", "/x")).isEqualTo("401 unauthorized");
            assertThat(send(source, "POST", "/x", "Authorization", "Bearer other"))
                    .isEqualTo("401 unauthorized");
            assertThat(send(source, "POST", "/x", "Authorization", "Bearer secret"))
                    .isEqualTo("200 success");
        }
    }

    @Test
    void aGitHubSourceChecksTheSignatureAndGitHubsFields() throws Exception {
        try (ArgoEventSource source = ArgoEventSource.start(Source.github("/push", "s3cret"))) {
            String signature = ArgoEventSource.sign("s3cret", PUSH);

            assertThat(send(source, "POST", "/push", "X-GitHub-Event", "push", "X-GitHub-Delivery", "d1",
                    "X-Hub-Signature-256", signature)).isEqualTo("200 success");
            assertThat(send(source, "POST", "/push", "X-GitHub-Event", "push", "X-GitHub-Delivery", "d1",
                    "X-Hub-Signature-256", ArgoEventSource.sign("other", PUSH))).startsWith("400 ");
            assertThat(send(source, "POST", "/push", "X-Hub-Signature-256", signature)).startsWith("400 ");
        }
    }

    @Test
    void aBusThatIsDownIsA500OrWithArgosFlawAnEventLost() throws Exception {
        try (ArgoEventSource source = ArgoEventSource.start(Source.webhook("/x")).bus(false)) {
            assertThat(send(source, "POST", "/x")).startsWith("500 ");
            source.answersFirst(true);
            assertThat(send(source, "POST", "/x")).isEqualTo("200 success");

            assertThat(source.taken()).isZero();
            assertThat(source.lost()).isEqualTo(1);
        }
    }

    @Test
    void scriptsRunItFromItsSource() throws Exception {
        Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                Path.of("src", "test", "java", "dev", "culvert", "e2e", "ArgoEventSource.java").toString(),
                "0", "/x")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader said = process.inputReader(StandardCharsets.UTF_8)) {
            String address = String.valueOf(said.readLine()).substring("listening ".length());
            process.outputWriter(StandardCharsets.UTF_8).append("flaw true\n").flush();
            var answer = client.send(
                    HttpRequest.newBuilder(URI.create("http://" + address + "/x"))
                            .POST(BodyPublishers.ofByteArray(PUSH))
                            .build(),
                    BodyHandlers.ofString());

            assertThat(answer.body()).isEqualTo("success");
            assertThat(said.readLine()).startsWith("{\"context\":{");
        } finally {
            process.getOutputStream().close();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
