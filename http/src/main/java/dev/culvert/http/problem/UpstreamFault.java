package dev.culvert.http.problem;

import dev.culvert.http.problem.Problem.Cause;
import org.jspecify.annotations.Nullable;

/**
 * A fault of an upstream with a title and an error type of its own among those of its cause. A tunnel carries
 * the cause and the detail of a problem, so the fault is recognised by how its detail begins.
 */
enum UpstreamFault {
    NO_NAME(Cause.UPSTREAM_REFUSED, "the upstream's name does not resolve",
            "The upstream's name does not resolve", "dns_error"), LARGE_HEAD(Cause.UPSTREAM_BAD_RESPONSE,
                    "the head of the upstream's response exceeds ",
                    "The head of the upstream's response is too large",
                    "http_response_header_section_size"), CERTIFICATE(Cause.UPSTREAM_TLS,
                            "the upstream's certificate", "The upstream's certificate is not trusted",
                            "tls_certificate_error"), ALERT(Cause.UPSTREAM_TLS,
                                    "the upstream refused the TLS handshake",
                                    "The upstream refused the TLS handshake",
                                    "tls_alert_received");

    private final Cause cause;
    private final String detail;
    private final String title;
    private final String error;

    UpstreamFault(Cause cause, String detail, String title, String error) {
        this.cause = cause;
        this.detail = detail;
        this.title = title;
        this.error = error;
    }

    /** The fault of a problem; null: none of these. */
    static @Nullable UpstreamFault of(Problem problem) {
        for (UpstreamFault each : values()) {
            if (each.cause == problem.cause() && problem.detail().startsWith(each.detail)) {
                return each;
            }
        }
        return null;
    }

    String title() {
        return title;
    }

    /** The error type of RFC 9209 §2.3. */
    String error() {
        return error;
    }
}
