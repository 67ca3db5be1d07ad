package dev.culvert.server.admin;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.token.AdminRole;
import io.netty.handler.codec.http.HttpMethod;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * One call of the admin API.
 *
 * @param method the method; GET answers HEAD too
 * @param template its path, with {@code {names}} for the segments that vary
 * @param call what answers it
 * @param role what a token must allow at least, below {@code /api/}
 */
public record AdminRoute(HttpMethod method, String template, Call call, AdminRole role) {
    /** Looking needs the least, changing the most, unless {@link #needs} says otherwise. */
    AdminRoute(HttpMethod method, String template, Call call) {
        this(method, template, call, method.equals(HttpMethod.GET) ? AdminRole.READ : AdminRole.ADMIN);
    }

    /** This route for another role. */
    AdminRoute needs(AdminRole other) {
        return new AdminRoute(method, template, call, other);
    }

    /** Answers a call. Errors as in {@link AdminApi}. */
    @FunctionalInterface
    public interface Call {
        Mono<EdgeResponse> answer(EdgeRequest request, Map<String, String> segments);
    }

    boolean serves(HttpMethod asked) {
        return asked.equals(method) || (asked.equals(HttpMethod.HEAD) && method.equals(HttpMethod.GET));
    }

    /** The varying segments of {@code path} as received, or null when the path is not this route's. */
    public @Nullable Map<String, String> match(String path) {
        List<String> wanted = List.of(template.split("/", -1));
        List<String> given = List.of(path.split("/", -1));
        if (wanted.size() != given.size()) {
            return null;
        }
        Map<String, String> segments = new HashMap<>();
        for (int i = 0; i < wanted.size(); i++) {
            String segment = wanted.get(i);
            if (segment.startsWith("{")) {
                segments.put(segment.substring(1, segment.length() - 1), given.get(i));
            } else if (!segment.equals(given.get(i))) {
                return null;
            }
        }
        return segments;
    }
}
