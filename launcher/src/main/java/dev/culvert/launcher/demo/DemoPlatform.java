package dev.culvert.launcher.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The demo's control plane with one user. The user may only read and commit to repositories, and read and
 * terminate workflows of the namespace {@code demo}.
 */
final class DemoPlatform {
    private static final HostPort ANY_PORT = new HostPort("127.0.0.1", 0);
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final ControlPlane plane;
    private final Path folder;
    private final ObjectMapper json = new ObjectMapper();

    private DemoPlatform(ControlPlane plane, Path folder) {
        this.plane = plane;
        this.folder = folder;
    }

    /** Starts the control plane and writes the keys of the user and of the runtime. The caller stops it. */
    static Mono<DemoPlatform> start(Path folder) {
        Path data = folder.resolve("control-plane");
        return ControlPlane
                .start(ControlPlaneConfig.of(ANY_PORT, data, ControlPlaneConfig.Nudge.none()))
                .map(plane -> new DemoPlatform(plane, folder))
                .flatMap(platform -> platform.populate(data.resolve("admin.key"))
                        .thenReturn(platform)
                        .onErrorResume(failed -> platform.stop(Duration.ZERO).then(Mono.error(failed))));
    }

    /** The API key of the user. */
    static Path userKey(Path folder) {
        return folder.resolve("demo.key");
    }

    /** The URL for App-Proxies. */
    URI url() {
        return URI.create("http://" + plane.address());
    }

    /** The API key of the runtime. */
    Path runtimeKey() {
        return folder.resolve("runtime.key");
    }

    Mono<Void> stop(Duration grace) {
        return plane.stop(grace);
    }

    private Mono<Void> populate(Path adminKey) {
        return onElastic(() -> Files.readString(adminKey).strip()).flatMap(admin -> post(admin, "/api/users",
                Map.of("name", "Demo User", "email", "demo@example.com"))
                .map(user -> user.path("id").asText())
                .flatMap(user -> post(admin, "/api/keys", Map.of("user", user, "name", "demo"))
                        .flatMap(key -> keep(userKey(folder), key))
                        .then(rule(admin, user, "gitContexts", List.of("VIEW", "CREATE"), Map.of()))
                        .then(rule(admin, user, "gitRepositories", List.of("VIEW", "UPDATE"), Map.of()))
                        .then(rule(admin, user, "workflows", List.of("VIEW", "ACCESS_LOGS", "TERMINATE"),
                                Map.of("namespace", List.of(DemoCluster.NAMESPACE)))))
                .then(post(admin, "/api/keys", Map.of("runtime", "local", "name", "demo")))
                .flatMap(key -> keep(runtimeKey(), key))
                .then(link(admin)));
    }

    /** A push to {@code demo/web} at GitHub starts the pipeline {@code demo/build}. */
    private Mono<Void> link(String admin) {
        return post(admin, "/api/hermes/events", Map.of("type", "git", "kind", "github", "values",
                Map.of("owner", "demo", "repo", "web")))
                .flatMap(event -> onElastic(() -> Secrets.write(hookSecret(folder),
                        event.path("help").asText().replaceAll(".*[?]account=([0-9a-f]+).*", "$1") + " "
                                + event.path("secret").asText()))
                        .then(post(admin, "/api/hermes/triggers/"
                                + URLEncoder.encode(event.path("uri").asText(), StandardCharsets.UTF_8)
                                + "/demo%2Fbuild", Map.of("filters", Map.of("branch", "^main$")))))
                .then();
    }

    /** The account's id and the secret of its webhook, with a space between them. */
    static Path hookSecret(Path folder) {
        return folder.resolve("hook.secret");
    }

    private Mono<JsonNode> rule(String admin, String user, String entity, List<String> actions,
            Map<String, List<String>> attributes) {
        return post(admin, "/api/abac", Map.of("entity", entity, "actions", actions, "users", List.of(user),
                "attributes", attributes));
    }

    private Mono<Void> keep(Path file, JsonNode key) {
        return onElastic(() -> {
            Files.createFile(file,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return Files.writeString(file, key.path("key").asText() + "\n");
        }).then();
    }

    private Mono<JsonNode> post(String admin, String path, Map<String, Object> body) {
        return onElastic(() -> {
            try (HttpClient http = HttpClient.newHttpClient()) {
                var answer = http.send(HttpRequest.newBuilder(url().resolve(path))
                        .timeout(TIMEOUT)
                        .header("Authorization", admin)
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(text(body)))
                        .build(), BodyHandlers.ofString());
                if (answer.statusCode() / 100 != 2) {
                    throw new DemoException(
                            "the control plane answered " + path + " with " + answer.statusCode());
                }
                return json.readTree(answer.body());
            }
        });
    }

    private String text(Object body) {
        try {
            return json.writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("maps always render", e);
        }
    }

    private interface Work<T> {
        T run() throws IOException, InterruptedException;
    }

    private static <T> Mono<T> onElastic(Work<T> work) {
        return Mono.fromCallable(work::run).subscribeOn(Schedulers.boundedElastic());
    }
}
