package dev.culvert.launcher.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.culvert.config.Reason;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A client of a tunnel server's admin API. Thread-safe; has no resources to close. */
public final class AdminClient {
    /**
     * The time-out of a request. The API answers from memory or after one small write, so a longer time-out
     * would only hide a hang.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final URI base;
    private final String token;
    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .build();

    /**
     * @param base {@code http://127.0.0.1:9090}
     * @param token the bearer token
     */
    public AdminClient(URI base, String token) {
        this.base = base;
        this.token = token;
    }

    /**
     * Sends a request and emits the API's response of any status. Errors: {@link AdminUnreachable} if the API
     * can't be reached.
     *
     * @param path the path below {@code /api/v1}
     * @param body the body, sent as JSON, or null for none
     */
    public Mono<Answer> call(String method, String path, @Nullable Object body) {
        return Mono.fromFuture(() -> http.sendAsync(request(method, path, body), BodyHandlers.ofString()))
                .map(this::answer)
                .onErrorMap(this::unreachable);
    }

    private HttpRequest request(String method, String path, @Nullable Object body) {
        var publisher = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(text(body));
        var request = HttpRequest.newBuilder(base.resolve("/api/v1" + path))
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + token)
                .method(method, publisher);
        return body == null ? request.build() : request.header("Content-Type", "application/json").build();
    }

    private String text(Object body) {
        try {
            return json.writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(body.toString(), e);
        }
    }

    private Answer answer(HttpResponse<String> response) {
        return new Answer(response.statusCode(), response.body(), tree(response.body()));
    }

    private JsonNode tree(String body) {
        try {
            return json.readTree(body);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }

    private Throwable unreachable(Throwable failure) {
        return new AdminUnreachable("the admin API at " + base + " can't be reached: " + Reason.of(failure)
                + " (is the server running there? --admin or CULVERT_ADMIN names another)");
    }

    /**
     * A response of the API.
     *
     * @param body the body as received
     * @param json the body as JSON; a missing node if it is not JSON
     */
    public record Answer(int status, String body, JsonNode json) {
        /** Whether the request succeeded. */
        public boolean ok() {
            return status / 100 == 2;
        }

        /** The reason of a failure, in one line. */
        public String problem() {
            String title = json.path("title").asText("the admin API refused");
            String detail = json.path("detail").asText("");
            return title + (detail.isEmpty() ? "" : ": " + detail) + " (" + status + ")";
        }
    }
}
