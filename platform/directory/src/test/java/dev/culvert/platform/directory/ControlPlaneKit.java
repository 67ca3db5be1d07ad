package dev.culvert.platform.directory;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** A running control plane in a folder, and calls of it, for tests. */
final class ControlPlaneKit implements AutoCloseable {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private final ControlPlane plane;
    private final String admin;

    private ControlPlaneKit(ControlPlane plane, String admin) {
        this.plane = plane;
        this.admin = admin;
    }

    /** Starts one with an empty database. */
    static ControlPlaneKit start(Path folder) throws IOException {
        return start(folder, ControlPlaneConfig.Nudge.none());
    }

    /** As above; it may nudge these runtimes. */
    static ControlPlaneKit start(Path folder, ControlPlaneConfig.Nudge nudge) throws IOException {
        ControlPlane plane = plane(folder, nudge);
        return new ControlPlaneKit(plane, Files.readString(folder.resolve("admin.key")).strip());
    }

    /** Starts one again, with the key of an operator. */
    static ControlPlaneKit start(Path folder, String admin) {
        return new ControlPlaneKit(plane(folder, ControlPlaneConfig.Nudge.none()), admin);
    }

    /** Starts one with this configuration and the key of an operator. */
    static ControlPlaneKit start(ControlPlaneConfig config, String admin) {
        return new ControlPlaneKit(Objects.requireNonNull(ControlPlane.start(config).block(TIME)), admin);
    }

    static ControlPlaneConfig config(Path folder) {
        return config(folder, ControlPlaneConfig.Nudge.none());
    }

    private static ControlPlaneConfig config(Path folder, ControlPlaneConfig.Nudge nudge) {
        return ControlPlaneConfig.of(new HostPort("127.0.0.1", 0), folder, nudge);
    }

    /** Starts one with an empty database of another kind. */
    static ControlPlaneKit start(ControlPlaneConfig config) throws IOException {
        ControlPlane plane = Objects.requireNonNull(ControlPlane.start(config).block(TIME));
        return new ControlPlaneKit(plane, Files.readString(config.adminKey()).strip());
    }

    private static ControlPlane plane(Path folder, ControlPlaneConfig.Nudge nudge) {
        return Objects.requireNonNull(ControlPlane.start(config(folder, nudge)).block(TIME));
    }

    /** The API key of the first administrator. */
    String admin() {
        return admin;
    }

    JsonNode resolve(String runtime, String token) throws IOException, InterruptedException {
        return json(call("POST", "/api/tokens/resolve", runtime, "{\"token\":\"" + token + "\"}"));
    }

    /** Makes an API key by this body; its answer. */
    JsonNode key(String body) throws IOException, InterruptedException {
        return json(call("POST", "/api/keys", admin, body));
    }

    JsonNode token(String key, String runtime) throws IOException, InterruptedException {
        return json(call("POST", "/api/runtime-tokens", key, "{\"runtime\":\"" + runtime + "\"}"));
    }

    String id(HttpResponse<String> made) throws IOException {
        assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
        return json(made).path("id").textValue();
    }

    JsonNode json(HttpResponse<String> answer) throws IOException {
        return json.readTree(answer.body());
    }

    HttpResponse<String> call(String method, String path, String key, String body)
            throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                .header("Authorization", key)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }

    /** A POST with an Idempotency-Key, of the first administrator. */
    HttpResponse<String> named(String path, String body, String name)
            throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                .header("Authorization", admin)
                .header("Idempotency-Key", name)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }

    @Override
    public void close() {
        plane.stop(Duration.ZERO).block(TIME);
    }
}
