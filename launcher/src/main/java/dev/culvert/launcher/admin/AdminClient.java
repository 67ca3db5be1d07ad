package dev.culvert.launcher.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.config.Reason;
import dev.culvert.launcher.output.JsonTree;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** A client of a tunnel server's admin API. Thread-safe; has no resources to close. */
public final class AdminClient {
    /**
     * The time-out of a request. The API answers from memory or after one small write, so a longer time-out
     * would only hide a hang.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(15);

    private final URI base;
    private final String token;
    private final SocketHttp http;

    /**
     * @param base {@code http://127.0.0.1:9090}
     * @param token the bearer token
     */
    public AdminClient(URI base, String token) {
        this(base, token, null);
    }

    /** @param tls makes the sockets of {@code https}; null: those that trust the JDK's authorities */
    AdminClient(URI base, String token, @Nullable SSLSocketFactory tls) {
        this.base = base;
        this.token = token;
        this.http = new SocketHttp(TIMEOUT, tls);
    }

    /**
     * Sends a request and returns the API's response of any status. Blocks until it has arrived.
     *
     * @param path the path below {@code /api/v1}
     * @param body the body, sent as JSON, or null for none
     * @throws AdminUnreachable if the API can't be reached
     */
    public Answer call(String method, String path, @Nullable Object body) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("Authorization", "Bearer " + token);
        if (body != null) {
            fields.put("Content-Type", "application/json");
        }
        try {
            var response = http.send(method, base.resolve("/api/v1" + path), fields,
                    body == null ? null : text(body).getBytes(StandardCharsets.UTF_8));
            return new Answer(response.status(), response.body(), JsonTree.of(response.body()));
        } catch (IOException e) {
            throw unreachable(e);
        }
    }

    /**
     * Passes the lines of a response to a GET on as they arrive, until it ends. Blocks.
     *
     * @param path the path below {@code /api/v1}
     * @param more header fields
     * @param silence the longest time without a byte
     * @param lines receives each line; false: it wants no more
     * @return the API's response, without the lines
     * @throws IOException if the API can't be reached, or the response was cut off
     */
    public Answer follow(String path, Map<String, String> more, Duration silence, Predicate<String> lines)
            throws IOException {
        Map<String, String> fields = new LinkedHashMap<>(more);
        fields.put("Authorization", "Bearer " + token);
        var response = http.follow(base.resolve("/api/v1" + path), fields, silence, lines);
        return new Answer(response.status(), response.body(), JsonTree.of(response.body()));
    }

    /** The error of an API that can't be reached. */
    public AdminUnreachable unreachable(IOException cause) {
        if ((cause instanceof EOFException || cause instanceof SocketException)
                && !(cause instanceof ConnectException) && !HttpAddress.isSecure(base)
                && TlsPort.isAt(base)) {
            return new AdminUnreachable("there is no admin API at " + base
                    + ": this is a TLS port; the admin API"
                    + " is at the server's admin.address, by default http://127.0.0.1:9090 (--admin or"
                    + " CULVERT_ADMIN names it; https:// if it has a certificate)");
        }
        return new AdminUnreachable("the admin API at " + base + " can't be reached: " + Reason.of(cause)
                + " (is the server running there? --admin or CULVERT_ADMIN names another)");
    }

    private static String text(Object body) {
        try {
            return new ObjectMapper().writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(body.toString(), e);
        }
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
