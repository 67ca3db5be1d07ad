package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpServer;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.config.HostPort;
import dev.culvert.relay.quota.CallerLimits;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests of a running server, through its admin API. */
@Timeout(60)
class RequestsIT {
    private static final JsonMapper JSON = new JsonMapper();
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private HttpServer upstream;
    private TunnelServer server;

    @BeforeEach
    void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(exchange.getRequestURI().getPath().equals("/missing") ? 404 : 200,
                    2);
            exchange.getResponseBody().write("ok".getBytes(StandardCharsets.US_ASCII));
            exchange.close();
        });
        upstream.start();
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        ca.issueServer(List.of("t.example"), List.of(), Duration.ofDays(1))
                .writeTo(folder.resolve("t.crt"), folder.resolve("t.key"));
        var tls = new ServerConfig.Tls(folder.resolve("t.crt"), folder.resolve("t.key"));
        var edge = new ServerConfig.Edge(ANY, "t.example", null, List.of(), true, CallerLimits.defaults(),
                List.of("127.0.0.1"), false, false, false);
        var tunnel = new ServerConfig.Tunnel(ANY, tls, false, false, List.of(), false,
                new ServerConfig.Ca(folder.resolve("ca.crt"), folder.resolve("ca.key"), Duration.ofDays(1)),
                false);
        server = await(TunnelServer.start(new ServerConfig(edge, tunnel,
                new ServerConfig.Admin(ANY, folder.resolve("admin.token")), folder.resolve("data"),
                new ServerConfig.Store(Duration.ofSeconds(10)))));
        int closed;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = free.getLocalPort();
        }
        host("web", upstream.getAddress().getPort());
        host("away", closed);
    }

    @AfterEach
    void stop() {
        server.stop(Duration.ZERO).block(Duration.ofSeconds(30));
        upstream.stop(0);
        client.close();
    }

    private void host(String name, int port) {
        assertThat(admin("POST", "/api/v1/runtimes", "{\"account\":\"acme\",\"name\":\"" + name
                + "\",\"upstream\":\"http://127.0.0.1:" + port + "\"}", token()).statusCode()).isEqualTo(201);
    }

    private String token() {
        try {
            return Files.readString(folder.resolve("admin.token")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpRequest.Builder request(String path, String token) {
        return HttpRequest.newBuilder(URI.create("http://" + server.adminAddress() + path))
                .header("Authorization", "Bearer " + token);
    }

    private HttpResponse<String> admin(String method, String path, @Nullable String body, String token) {
        try {
            return client.send(request(path, token).method(method,
                    body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body)).build(),
                    BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private JsonNode requests(String query) throws JsonProcessingException {
        HttpResponse<String> answer = admin("GET", "/api/v1/requests" + query, null, token());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("cache-control")).contains("no-store");
        return JSON.readTree(answer.body());
    }

    private List<String> paths(String query) throws JsonProcessingException {
        return requests(query).path("items").findValuesAsText("path");
    }

    /** Sends a request of a caller. Returns the first line of the answer. */
    private String call(String runtime, String target, String... fields) throws IOException {
        HostPort edge = server.edgeAddress();
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), edge.port())) {
            socket.getOutputStream()
                    .write(("GET " + target + " HTTP/1.1\r\nHost: " + runtime + ".t.example\r\n"
                            + String.join("", List.of(fields)) + "Connection: close\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            return answer.lines().findFirst().orElse("");
        }
    }

    @Test
    void requestsAreThereAtTheFirstLook() throws Exception {
        assertThat(call("acme-web", "/unseen")).contains("200");
        assertThat(call("acme-away", "/lost?token=secret", "X-Request-Id: id-1\r\n",
                "Authorization: Bearer secret\r\n", "Cookie: secret\r\n", "X-Forwarded-For: 192.0.2.7\r\n",
                "User-Agent: <script>alert(1)</script>\"\r\n")).contains("502");

        Awaitility.await().untilAsserted(() -> assertThat(paths("")).contains("/lost"));
        JsonNode first = requests("");
        assertThat(paths("")).containsExactly("/lost", "/unseen");
        assertThat(first.path("next").isNull()).isTrue();
        assertThat(first.path("allSince").asText()).isNotEmpty();
        JsonNode problem = first.path("items").get(0);
        assertThat(problem.toString()).doesNotContain("secret")
                .contains(
                        "\"requestId\":\"id-1\",\"runtime\":\"acme/away\",\"caller\":\"192.0.2.7\",\"method\":\"GET\"",
                        "\"host\":\"acme-away.t.example\",\"path\":\"/lost\",\"protocol\":\"HTTP/1.1\"",
                        "\"status\":502,\"cause\":\"upstream-refused\",\"hop\":\"upstream\",\"detail\":\"the upstream refused the connection\",\"end\":\"complete\"",
                        "\"userAgent\":\"<script>alert(1)</script>\\\\x22\"");

        assertThat(call("acme-web", "/seen/1")).contains("200");
        assertThat(call("acme-web", "/seen/2")).contains("200");
        assertThat(call("acme-web", "/missing")).contains("404");
        assertThat(call("nobody", "/stray")).contains("404");
        Awaitility.await().untilAsserted(() -> assertThat(paths("")).contains("/stray"));
        assertThat(paths("")).containsExactly("/stray", "/missing", "/seen/2", "/seen/1", "/lost", "/unseen");
        assertThat(paths("?runtime=acme")).doesNotContain("/stray").hasSize(5);
        assertThat(paths("?runtime=acme/web&path=/seen/")).containsExactly("/seen/2", "/seen/1");
        assertThat(paths("?path=st")).containsExactly("/stray", "/lost");
        assertThat(paths("?status=404")).containsExactly("/stray", "/missing");
        assertThat(paths("?status=5xx&cause=&hop=&slowerThan=")).containsExactly("/lost");
        assertThat(paths("?cause=unknown-host&hop=edge")).containsExactly("/stray");
        assertThat(paths("?problems=true")).containsExactly("/stray", "/lost");
        assertThat(paths("?slowerThan=1h")).isEmpty();
        String next = requests("?limit=2").path("next").asText();
        assertThat(paths("?limit=2&next=" + next)).containsExactly("/seen/2", "/seen/1");

        String id = problem.path("id").asText();
        for (String name : List.of(id, "id-1")) {
            assertThat(admin("GET", "/api/v1/requests/" + name, null, token()).body())
                    .isEqualTo(problem.toString());
        }
        assertThat(admin("GET", "/api/v1/requests/none", null, token()).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"status=6xx", "status=99", "cause=none", "hop=edges", "slowerThan=5",
            "slowerThan=99999999999s", "limit=0", "limit=501", "problems=yes"})
    void aWrongFilterIsRefusedAndNamed(String query) {
        for (String path : List.of("/api/v1/requests?", "/api/v1/events?requests=only&")) {
            if (!query.startsWith("limit") || path.startsWith("/api/v1/requests")) {
                HttpResponse<String> refused = admin("GET", path + query, null, token());

                assertThat(refused.statusCode()).isEqualTo(400);
                assertThat(refused.body()).contains("bad-request",
                        query.substring(0, query.indexOf('=')) + ": not a value");
            }
        }
    }

    @Test
    void aReaderMayLookAndNobodyElse() throws Exception {
        String reader = JSON.readTree(admin("POST", "/api/v1/admin-tokens",
                "{\"name\":\"dashboard\",\"role\":\"read\"}", token()).body()).path("token").asText();
        assertThat(admin("GET", "/api/v1/requests", null, reader).statusCode()).isEqualTo(200);
        for (String path : List.of("/api/v1/requests", "/api/v1/requests/any",
                "/api/v1/events?requests=only")) {
            assertThat(admin("GET", path, null, "guess").statusCode()).isEqualTo(401);
        }
    }

    private BufferedReader watch(String query, @Nullable String after)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = request("/api/v1/events" + query, token());
        if (after != null) {
            request.header("Last-Event-ID", after);
        }
        var response = client.send(request.build(), BodyHandlers.ofInputStream());
        assertThat(response.statusCode()).isEqualTo(200);
        var lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        assertThat(lines.readLine()).isEqualTo(":");
        return lines;
    }

    private static List<String> event(BufferedReader lines) throws IOException {
        List<String> event = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.isEmpty() && !line.equals(":")) {
                event.add(line);
            } else if (!event.isEmpty()) {
                return event;
            }
        }
        return event;
    }

    @Test
    void requestsAreStreamedToThoseWhoAskForThem() throws Exception {
        BufferedReader events = watch("", null);
        BufferedReader both = watch("?requests=true", null);
        BufferedReader some = watch("?requests=only&runtime=acme/web&path=/wanted", null);
        call("acme-web", "/other");
        call("acme-web", "/wanted/1?token=secret");

        List<String> seen = event(some);
        assertThat(seen).hasSize(3);
        assertThat(seen.get(1)).isEqualTo("event: request");
        assertThat(seen.get(2)).contains("\"path\":\"/wanted/1\"", "\"runtime\":\"acme/web\"")
                .doesNotContain("secret");
        assertThat(event(both).get(2)).contains("\"path\":\"/other\"");
        assertThat(event(both)).isEqualTo(seen);
        some.close();

        call("acme-web", "/wanted/2");
        BufferedReader again = watch("?requests=only&path=/wanted",
                seen.getFirst().substring("id: ".length()));
        assertThat(event(again).get(2)).contains("\"path\":\"/wanted/2\"");
        assertThat(event(both).get(2)).contains("\"path\":\"/wanted/2\"");

        server.stop(Duration.ZERO).block(Duration.ofSeconds(30));
        assertThat(event(events).getFirst()).isEqualTo("event: stopping");
        assertThat(event(both).getFirst()).isEqualTo("event: stopping");
        assertThat(event(again)).isEmpty();
    }
}
