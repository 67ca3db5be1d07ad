package dev.culvert.http.problem;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.ProblemDocument.Field;

/**
 * Builds {@code Proxy-Status} (RFC 9209), which names the proxy that generated a response and the reason.
 * Other proxies and CDNs use the same form.
 */
public final class ProxyStatus {
    /** The name of an edge. */
    public static final String EDGE = "culvert-edge";
    /** The name of a cluster's router. */
    public static final String ROUTER = "culvert-router";

    private static final int MAX_DETAILS = 200;

    private ProxyStatus() {}

    /** The field of a response that {@code proxy}, a token, generated because of {@code problem}. */
    public static Field of(String proxy, Problem problem) {
        return new Field("proxy-status", proxy + "; error=" + error(problem) + "; details=\""
                + details(problem.detail()) + '"');
    }

    private static String error(Problem problem) {
        UpstreamFault fault = UpstreamFault.of(problem);
        return fault == null ? error(problem.cause()) : fault.error();
    }

    /** The error type of RFC 9209 §2.3. */
    static String error(Cause cause) {
        return switch (cause) {
            case UNKNOWN_HOST, NO_ROUTE, NOT_FOUND -> "destination_not_found";
            case NO_TUNNEL, UNAVAILABLE, DRAINING, STORE_UNAVAILABLE -> "destination_unavailable";
            case OVERLOADED -> "connection_limit_reached";
            case TUNNEL_LOST, UPSTREAM_RESET -> "connection_terminated";
            case UPSTREAM_REFUSED -> "connection_refused";
            case UPSTREAM_TLS -> "tls_protocol_error";
            case UPSTREAM_BAD_RESPONSE -> "http_protocol_error";
            case UPSTREAM_TIMEOUT -> "http_response_timeout";
            case NOT_ALLOWED, UNAUTHORIZED, BAD_SIGNATURE -> "http_request_denied";
            case BAD_REQUEST, METHOD_NOT_ALLOWED, REQUEST_TIMEOUT, CONFLICT, BODY_TOO_LARGE, URI_TOO_LONG,
                    UPGRADE_REQUIRED, RATE_LIMITED, MISDIRECTED_REQUEST, HEAD_TOO_LARGE ->
                "http_request_error";
            case LOOP_DETECTED -> "proxy_loop_detected";
            case INTERNAL -> "proxy_internal_error";
        };
    }

    /** Encodes a string (RFC 9651 §3.3.3): printable ASCII with two characters escaped. */
    private static String details(String text) {
        int length = Math.min(text.length(), MAX_DETAILS);
        var details = new StringBuilder(length + 8);
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                details.append('\\');
            }
            details.append(c < ' ' || c > '~' ? '?' : c);
        }
        return details.toString();
    }
}
