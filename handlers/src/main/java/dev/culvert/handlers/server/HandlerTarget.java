package dev.culvert.handlers.server;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.util.List;
import java.util.Locale;

/** Validates the method, the target and the Host field of a request (RFC 9112 §3.2). */
final class HandlerTarget {
    private HandlerTarget() {}

    /**
     * Returns the target in origin form with its bytes as received. Throws {@link EdgeException}: 405 for
     * CONNECT and TRACE, 400 for a target of another form, a missing or repeated Host, or an absolute form
     * that names another host.
     */
    static String originForm(HttpMethod method, String target, HttpHeaders headers, boolean http10) {
        if (method.equals(HttpMethod.CONNECT) || method.equals(HttpMethod.TRACE)) {
            throw new EdgeException(Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.EDGE,
                    method.name() + " is not served here"),
                    new DefaultHttpHeaders().set(HttpHeaderNames.ALLOW,
                            "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"));
        }
        List<String> hosts = headers.getAll(HttpHeaderNames.HOST);
        if (hosts.size() > 1 || (hosts.isEmpty() && !http10)) {
            throw bad("exactly one Host field is required");
        }
        if (target.startsWith("/") || (target.equals("*") && method.equals(HttpMethod.OPTIONS))) {
            return target;
        }
        String lower = target.toLowerCase(Locale.ROOT);
        int authority = lower.startsWith("http://") ? 7 : lower.startsWith("https://") ? 8 : 0;
        if (authority == 0) {
            throw bad("the target must start with a slash");
        }
        int end = authority;
        while (end < target.length() && "/?#".indexOf(target.charAt(end)) < 0) {
            end++;
        }
        if (!hosts.isEmpty() && !hosts.getFirst().equalsIgnoreCase(target.substring(authority, end))) {
            throw bad("the target and the Host field name different hosts");
        }
        String path = target.substring(end);
        return path.startsWith("/") ? path : "/" + path;
    }

    private static EdgeException bad(String detail) {
        return new EdgeException(Problem.of(Cause.BAD_REQUEST, Hop.EDGE, detail));
    }
}
