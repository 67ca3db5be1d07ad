package dev.culvert.http.path;

import dev.culvert.http.fields.Http1Grammar;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks the method, the target and the host of requests (RFC 9112 §3). The same for every listener. */
public final class TargetForm {
    /** The {@code Allow} field of a 405 response, and of the response to {@code OPTIONS *}. */
    public static final String SERVED_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    /** The target of an OPTIONS request that concerns the whole server (RFC 9110 §9.3.7). */
    public static final String ASTERISK = "*";
    /** The maximum length of a name, a trailing dot and a port. */
    private static final int MAX_AUTHORITY = 254 + 6;

    private TargetForm() {}

    /** Throws EdgeException for a method with another meaning at a gateway, and for one that is too long. */
    public static void requireServed(String method) {
        if (method.length() > Http1Grammar.MAX_METHOD) {
            throw bad("the method is longer than " + Http1Grammar.MAX_METHOD + " characters");
        }
        if (method.equals("CONNECT") || method.equals("TRACE")) {
            throw new EdgeException(
                    Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.EDGE, method + " is not served"),
                    new DefaultHttpHeaders().set(HttpHeaderNames.ALLOW, SERVED_METHODS));
        }
    }

    /**
     * Returns the only Host field of a request if it is valid (RFC 9112 §3.2). Throws EdgeException
     * otherwise.
     */
    public static String host(List<String> hosts) {
        if (hosts.size() != 1 || !isAuthority(hosts.getFirst())) {
            throw bad("one valid Host field is needed");
        }
        return hosts.getFirst();
    }

    /**
     * Returns the path and query of a target with its bytes as received: origin-form, absolute-form with the
     * authority of Host, or {@code *} for OPTIONS. Throws EdgeException for any other.
     *
     * @param host the Host field; null: none, as HTTP/1.0 allows
     */
    public static String path(String target, HttpMethod method, @Nullable String host) {
        if (target.startsWith("/") || (target.equals(ASTERISK) && method.equals(HttpMethod.OPTIONS))) {
            return checked(target);
        }
        int start = target.indexOf("://");
        String scheme = start < 0 ? "" : target.substring(0, start);
        if (!scheme.equalsIgnoreCase("http") && !scheme.equalsIgnoreCase("https")) {
            throw bad("the target is neither a path nor an absolute http(s) URI");
        }
        int path = start + 3;
        while (path < target.length() && target.charAt(path) != '/' && target.charAt(path) != '?') {
            path++;
        }
        String authority = target.substring(start + 3, path);
        if (host == null ? !isAuthority(authority) : !authority.equalsIgnoreCase(host)) {
            throw bad("the target's authority differs from the Host field");
        }
        String rest = target.substring(path);
        return checked(rest.startsWith("/") ? rest : "/" + rest);
    }

    /** Returns the path unchanged if it can be sent without repair. Throws EdgeException otherwise. */
    public static String checked(String path) {
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c <= ' ' || c >= 0x7f || c == '#') {
                throw bad("the target has a character that must be percent-encoded");
            }
        }
        return path;
    }

    /**
     * Whether a text is a name or an address with an optional port (RFC 3986 §3.2.2). Accepts only names that
     * a runtime can have.
     */
    public static boolean isAuthority(String host) {
        int end = host.startsWith("[") ? addressEnd(host) : nameEnd(host);
        boolean port = end < host.length();
        return end > 0 && host.length() <= MAX_AUTHORITY && (!port || isPort(host, end));
    }

    private static int nameEnd(String host) {
        int end = 0;
        while (end < host.length()
                && (isAlphanumeric(host.charAt(end)) || "-._".indexOf(host.charAt(end)) >= 0)) {
            end++;
        }
        return end;
    }

    /**
     * Returns the end of an IPv6 address in brackets (RFC 3986 §3.2.2). Its digits are not checked, because
     * no runtime has one.
     */
    private static int addressEnd(String host) {
        int end = host.indexOf(']');
        for (int i = 1; i < end; i++) {
            if (!isAlphanumeric(host.charAt(i)) && ":.".indexOf(host.charAt(i)) < 0) {
                return 0;
            }
        }
        return end <= 1 || host.lastIndexOf(':', end) < 0 ? 0 : end + 1;
    }

    private static boolean isPort(String host, int colon) {
        int digits = host.length() - colon - 1;
        boolean valid = host.charAt(colon) == ':' && digits >= 1 && digits <= 5;
        for (int i = colon + 1; i < host.length(); i++) {
            valid &= host.charAt(i) >= '0' && host.charAt(i) <= '9';
        }
        return valid;
    }

    private static boolean isAlphanumeric(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }

    private static EdgeException bad(String detail) {
        return new EdgeException(Problem.of(Cause.BAD_REQUEST, Hop.EDGE, detail));
    }
}
