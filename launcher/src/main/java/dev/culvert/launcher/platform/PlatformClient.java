package dev.culvert.launcher.platform;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.config.Reason;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.admin.AdminUnreachable;
import dev.culvert.launcher.admin.SocketHttp;
import dev.culvert.launcher.output.JsonTree;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** A client of a control plane's API. Has no resources to close. */
final class PlatformClient {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final URI base;
    private final @Nullable String key;
    private final SocketHttp http;

    /**
     * @param key the API key; null: none is sent
     * @param tls makes the sockets of {@code https}; null: those that trust the JDK's authorities
     */
    PlatformClient(URI base, @Nullable String key, @Nullable SSLSocketFactory tls) {
        this.base = base;
        this.key = key;
        this.http = new SocketHttp(TIMEOUT, tls);
    }

    /** A segment of a path, or a value of a query. */
    static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** As below, without more fields. */
    AdminClient.Answer call(String method, String path, @Nullable Object body) {
        return call(method, path, body, Map.of());
    }

    /**
     * Sends a request and returns the response of any status. Blocks.
     *
     * @param body the body, sent as JSON, or null for none
     * @throws AdminUnreachable if the control plane can't be reached
     */
    AdminClient.Answer call(String method, String path, @Nullable Object body, Map<String, String> more) {
        Map<String, String> fields = new LinkedHashMap<>(more);
        if (key != null) {
            fields.put("Authorization", "Bearer " + key);
        }
        if (body != null) {
            fields.put("Content-Type", "application/json");
        }
        try {
            var response = http.send(method, base.resolve(path), fields,
                    body == null ? null : text(body).getBytes(StandardCharsets.UTF_8));
            return new AdminClient.Answer(response.status(), response.body(), JsonTree.of(response.body()));
        } catch (IOException e) {
            throw new AdminUnreachable("the control plane at " + base + " can't be reached: " + Reason.of(e)
                    + " (--control-plane or CULVERT_CONTROL_PLANE names another)");
        }
    }

    private static String text(Object body) {
        try {
            return new ObjectMapper().writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(body.toString(), e);
        }
    }
}
