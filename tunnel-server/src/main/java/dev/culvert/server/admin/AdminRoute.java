package dev.culvert.server.admin;

import dev.culvert.handlers.rest.PathTemplate;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.token.AdminRole;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * One call of the admin API.
 *
 * @param method the method; GET answers HEAD too
 * @param template its path
 * @param call what answers it
 * @param role what a token must allow at least, below {@code /api/}
 */
public record AdminRoute(HttpMethod method, PathTemplate template, Call call, AdminRole role) {
    /** Looking needs the least, changing the most, unless {@link #needs} says otherwise. */
    AdminRoute(HttpMethod method, String template, Call call) {
        this(method, new PathTemplate(template), call,
                method.equals(HttpMethod.GET) ? AdminRole.READ : AdminRole.ADMIN);
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
}
