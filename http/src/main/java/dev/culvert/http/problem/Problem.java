package dev.culvert.http.problem;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An error of the gateway itself, which the caller receives as {@code application/problem+json} (RFC 9457).
 * Responses of upstreams are never problems.
 *
 * @param cause the cause, which determines status, title and {@code type}
 * @param hop the part of the path that noticed it
 * @param detail one sentence for the caller: no inner host, class name or secret
 * @param retryAfter the time that the caller should wait, or null if waiting does not help
 * @param challenge the value of {@code WWW-Authenticate} (RFC 9110 §11.6.1), one line, or null
 */
public record Problem(Cause cause, Hop hop, String detail, @Nullable Duration retryAfter,
        @Nullable String challenge) {

    /** The media type of every problem (RFC 9457 §3). */
    public static final String MEDIA_TYPE = "application/problem+json";

    /** Creates a problem without {@code Retry-After}, because waiting does not help. */
    public static Problem of(Cause cause, Hop hop, String detail) {
        return new Problem(cause, hop, detail, null, null);
    }

    /** This problem with {@code Retry-After}. */
    public Problem retryAfter(Duration wait) {
        return new Problem(cause, hop, detail, wait, challenge);
    }

    /** This problem with a challenge, which names the credentials that the caller has to present. */
    public Problem challenging(String scheme) {
        return new Problem(cause, hop, detail, retryAfter, scheme);
    }

    /** The short summary: that of the cause, or of a fault of an upstream that has its own. */
    public String title() {
        UpstreamFault fault = UpstreamFault.of(this);
        return fault == null ? cause.title() : fault.title();
    }

    /** {@code Retry-After} in whole seconds, rounded up, at least 1; 0 when there is none. */
    public long retryAfterSeconds() {
        return retryAfter == null ? 0 : Math.max(1, (retryAfter.toMillis() + 999) / 1000);
    }

    /** The part of the path on which a problem arose. */
    public enum Hop {
        EDGE, TUNNEL, ROUTER, UPSTREAM;

        /** The word in the JSON, in metrics and in logs. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The closed list of causes; each has a section in docs/problems.md. */
    public enum Cause {
        UNKNOWN_HOST(404, "unknown-host", "No runtime answers to this host"), NO_ROUTE(404, "no-route",
                "No route matches this path"), NOT_FOUND(404, "not-found", "No such thing"), NOT_ALLOWED(403,
                        "not-allowed", "Not allowed"), NO_TUNNEL(503, "no-tunnel",
                                "The runtime is not connected"), DRAINING(503, "draining",
                                        "The gateway is draining"), OVERLOADED(503, "overloaded",
                                                "A limit of streams or memory is reached"), UNAVAILABLE(503,
                                                        "unavailable",
                                                        "Something that is needed for an answer is away"), TUNNEL_LOST(
                                                                502,
                                                                "tunnel-lost",
                                                                "The tunnel broke during the request"), UPSTREAM_REFUSED(
                                                                        502, "upstream-refused",
                                                                        "The upstream refused the connection"), UPSTREAM_RESET(
                                                                                502, "upstream-reset",
                                                                                "The upstream closed the connection early"), UPSTREAM_TLS(
                                                                                        502, "upstream-tls",
                                                                                        "The TLS handshake with the upstream failed"), UPSTREAM_BAD_RESPONSE(
                                                                                                502,
                                                                                                "upstream-bad-response",
                                                                                                "The upstream's answer is not valid HTTP"), UPSTREAM_TIMEOUT(
                                                                                                        504,
                                                                                                        "upstream-timeout",
                                                                                                        "The upstream did not answer in time"), BAD_REQUEST(
                                                                                                                400,
                                                                                                                "bad-request",
                                                                                                                "The request is not valid"), UNAUTHORIZED(
                                                                                                                        401,
                                                                                                                        "unauthorized",
                                                                                                                        "Authentication is required"), BAD_SIGNATURE(
                                                                                                                                401,
                                                                                                                                "bad-signature",
                                                                                                                                "The signature does not match"), METHOD_NOT_ALLOWED(
                                                                                                                                        405,
                                                                                                                                        "method-not-allowed",
                                                                                                                                        "This method is not allowed here"), REQUEST_TIMEOUT(
                                                                                                                                                408,
                                                                                                                                                "request-timeout",
                                                                                                                                                "The request did not arrive in time"), CONFLICT(
                                                                                                                                                        409,
                                                                                                                                                        "conflict",
                                                                                                                                                        "The request conflicts with the present state"), BODY_TOO_LARGE(
                                                                                                                                                                413,
                                                                                                                                                                "body-too-large",
                                                                                                                                                                "The body is too large"), URI_TOO_LONG(
                                                                                                                                                                        414,
                                                                                                                                                                        "uri-too-long",
                                                                                                                                                                        "The URI is too long"), MISDIRECTED_REQUEST(
                                                                                                                                                                                421,
                                                                                                                                                                                "misdirected-request",
                                                                                                                                                                                "This server does not serve this host"), UPGRADE_REQUIRED(
                                                                                                                                                                                        426,
                                                                                                                                                                                        "upgrade-required",
                                                                                                                                                                                        "This resource speaks WebSocket only"), RATE_LIMITED(
                                                                                                                                                                                                429,
                                                                                                                                                                                                "rate-limited",
                                                                                                                                                                                                "Too many requests"), HEAD_TOO_LARGE(
                                                                                                                                                                                                        431,
                                                                                                                                                                                                        "head-too-large",
                                                                                                                                                                                                        "The header section is too large"), LOOP_DETECTED(
                                                                                                                                                                                                                508,
                                                                                                                                                                                                                "loop-detected",
                                                                                                                                                                                                                "The request came back to this gateway"), INTERNAL(
                                                                                                                                                                                                                        500,
                                                                                                                                                                                                                        "internal",
                                                                                                                                                                                                                        "The gateway failed"), STORE_UNAVAILABLE(
                                                                                                                                                                                                                                503,
                                                                                                                                                                                                                                "store-unavailable",
                                                                                                                                                                                                                                "The database can't be used");

        private final int status;
        private final String word;
        private final String title;

        Cause(int status, String word, String title) {
            this.status = status;
            this.word = word;
            this.title = title;
        }

        /** The HTTP status code. */
        public int status() {
            return status;
        }

        /** The last part of the {@code type} URN, and the metrics label. */
        public String word() {
            return word;
        }

        /** The short, fixed summary. */
        public String title() {
            return title;
        }

        /** The {@code type} member: {@code urn:culvert:problem:<cause>}. */
        public String type() {
            return "urn:culvert:problem:" + word;
        }
    }
}
