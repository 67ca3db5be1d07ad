package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.relay.WireProblem;
import java.time.Duration;

/** The problems of forwarding. None names an inner host. */
final class UpstreamProblem {
    static final Problem DRAINING = Problem.of(Cause.DRAINING, Hop.ROUTER, "the router is shutting down")
            .retryAfter(Duration.ofSeconds(5));
    static final Problem OVERLOADED = Problem
            .of(Cause.OVERLOADED, Hop.ROUTER, "too many requests wait for this upstream")
            .retryAfter(Duration.ofSeconds(1));
    static final Problem TIMEOUT = Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
            "the upstream sent no response head in time");
    static final Problem NO_RESPONSE = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream closed the connection without a response");
    static final Problem BROKEN_RESPONSE = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream broke off its response");
    static final Problem BAD_RESPONSE = Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
            "the upstream's answer is not valid HTTP/1.1");
    static final Problem BAD_HTTP2 = Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
            "the upstream's answer is not valid HTTP/2");
    static final Problem NO_HTTP2 = Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
            "the upstream does not speak HTTP/2");
    static final Problem NO_WORD = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream closed the connection before it said anything in HTTP/2");
    static final Problem NO_TLS = Problem.of(Cause.UPSTREAM_TLS, Hop.UPSTREAM,
            "the TLS handshake with the upstream failed");
    static final Problem REFUSED_STREAM = refused("the upstream refused to begin the exchange");
    static final Problem GOING_AWAY = refused("the upstream was closing its connection");
    static final Problem HEAD_TOO_LARGE = Problem.of(Cause.HEAD_TOO_LARGE, Hop.UPSTREAM,
            "the upstream takes no header section so large");
    static final Problem NO_NAME = WireProblem.NO_NAME;
    static final Problem NO_CONNECTION = refused("the upstream did not accept a connection in time");

    static final Problem NO_HTTP2_CONNECTION = refused(
            "no HTTP/2 connection to the upstream came about in time");

    static final Problem HEALTH_METHOD = Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.ROUTER,
            "this path is served to GET and HEAD");

    static final Problem NO_TCP = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster lists no upstream for this server name");
    static final Problem BROKEN_CONNECTION = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream reset the connection");

    private UpstreamProblem() {}

    static Problem refused(String detail) {
        return Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, detail);
    }

    /** An HTTP/2 upstream reset the exchange; its code is a name such as {@code CANCEL}. */
    static Problem streamReset(String code) {
        return Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "the upstream reset the exchange: " + code);
    }

    static Problem badRequest(String detail) {
        return Problem.of(Cause.BAD_REQUEST, Hop.EDGE, detail);
    }

    static Problem methodNotAllowed(CharSequence method) {
        return Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.EDGE, method + " is not forwarded");
    }
}
