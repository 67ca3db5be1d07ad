package dev.culvert.admin;

import dev.culvert.handlers.rest.PathTemplate;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * One call of the admin API.
 *
 * @param method the method; GET answers HEAD too
 * @param template the template of its path
 * @param call makes the response
 * @param role the lowest role that a token must have, below {@code /api/}
 * @param registrar whether the role {@link AdminRole#REGISTRAR} may make it, too
 */
public record AdminRoute(HttpMethod method, PathTemplate template, Call call, AdminRole role,
        boolean registrar) {
    /** By default, reads need the lowest role and changes the highest; {@link #needs} sets another. */
    public AdminRoute(HttpMethod method, String template, Call call) {
        this(method, new PathTemplate(template), call,
                method.equals(HttpMethod.GET) ? AdminRole.READ : AdminRole.ADMIN, false);
    }

    /** Returns this route with another role. */
    public AdminRoute needs(AdminRole other) {
        return new AdminRoute(method, template, call, other, registrar);
    }

    /** Returns this route for registrars, too. Its call must let them reach their own runtimes only. */
    public AdminRoute forRegistrars() {
        return new AdminRoute(method, template, call, role, true);
    }

    /** Whether a caller of this role may make the call. */
    public boolean admits(AdminRole caller) {
        return caller == AdminRole.REGISTRAR ? registrar : caller.covers(role);
    }

    /** Makes the response to a call. Errors as in {@link AdminHandler}. */
    @FunctionalInterface
    public interface Call {
        Mono<EdgeResponse> answer(EdgeRequest request, Map<String, String> segments);
    }

    /** Whether it answers this method. */
    public boolean serves(HttpMethod asked) {
        return asked.equals(method) || (asked.equals(HttpMethod.HEAD) && method.equals(HttpMethod.GET));
    }
}
