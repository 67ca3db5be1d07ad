package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.http2.Http2Headers;

/** The checks of a request's target that all HTTP versions share. */
public final class RequestTarget {
    /** The maximum length of a name, a trailing dot and a port. */
    private static final int MAX_AUTHORITY = 254 + 6;

    private RequestTarget() {}

    /** Throws EdgeException for a head with too many fields, or with a target that is too long. */
    public static void requireWithin(CallerLimits limits, int fields, CharSequence target) {
        if (fields > limits.maxHeadFields()) {
            throw problem(Cause.HEAD_TOO_LARGE,
                    "the head has more than " + limits.maxHeadFields() + " fields");
        }
        if (target.length() > limits.maxUriBytes().bytes()) {
            throw problem(Cause.URI_TOO_LONG, "the target is longer than " + limits.maxUriBytes());
        }
    }

    /**
     * Requires that a head declares its body's length by at most one number (RFC 9110 §8.6). Throws
     * EdgeException otherwise.
     */
    public static void requireLength(Http2Headers head) {
        if (ContentLength.of(head) == ContentLength.INVALID) {
            throw problem(Cause.BAD_REQUEST, "the Content-Length is not one number");
        }
    }

    /** Throws EdgeException for a method that has another meaning at a gateway. */
    public static void requireServed(String method) {
        if (method.equals("CONNECT") || method.equals("TRACE")) {
            throw problem(Cause.METHOD_NOT_ALLOWED, method + " is not served");
        }
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

    /** Returns the path unchanged if it can be sent without repair. Throws EdgeException otherwise. */
    public static String checked(String path) {
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            if (c <= ' ' || c >= 0x7f || c == '#') {
                throw problem(Cause.BAD_REQUEST, "the target has a character that must be percent-encoded");
            }
        }
        return path;
    }

    public static EdgeException problem(Cause cause, String detail) {
        return new EdgeException(Problem.of(cause, Hop.EDGE, detail));
    }
}
