package dev.culvert.relay.upstream;

import dev.culvert.certs.tls.UntrustedServerException;
import dev.culvert.config.ByteSize;
import dev.culvert.http.fields.JudgedMessage;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.WireProblem;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/** The problems of forwarding to upstreams. None names an inner host. */
public final class UpstreamProblem {
    public static final Problem DRAINING = Problem
            .of(Cause.DRAINING, Hop.ROUTER, "the router is shutting down")
            .retryAfter(Duration.ofSeconds(5));
    public static final Problem OVERLOADED = Problem
            .of(Cause.OVERLOADED, Hop.ROUTER, "too many requests wait for this upstream")
            .retryAfter(Duration.ofSeconds(1));
    public static final Problem TIMEOUT = Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
            "the upstream sent no response head in time");
    public static final Problem NO_RESPONSE = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream closed the connection without a response");
    public static final Problem BROKEN_RESPONSE = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream aborted its response");
    public static final Problem BAD_RESPONSE = Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
            "the upstream's answer is not valid HTTP/1.1");
    public static final Problem BAD_HTTP2 = Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
            "the upstream's answer is not valid HTTP/2");
    public static final Problem NO_HTTP2 = Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
            "the upstream does not speak HTTP/2");
    public static final Problem NO_WORD = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream closed the connection before it sent an HTTP/2 frame");
    public static final Problem REFUSED_STREAM = refused("the upstream refused to begin the exchange");
    public static final Problem GOING_AWAY = refused("the upstream was closing its connection");
    public static final Problem HEAD_TOO_LARGE = Problem.of(Cause.HEAD_TOO_LARGE, Hop.UPSTREAM,
            "the request's header section exceeds the upstream's limit");
    /** DNS knows no such name, which contains values of the caller. */
    public static final Problem NO_NAME = WireProblem.NO_NAME;
    /** The name of the configuration does not resolve, or DNS does not answer. */
    public static final Problem NO_ADDRESS = refused("the upstream's name does not resolve");
    public static final Problem NO_CONNECTION = refused("the upstream did not accept a connection in time");

    public static final Problem NO_HTTP2_CONNECTION = refused(
            "the upstream did not set up an HTTP/2 connection in time");

    public static final Problem HEALTH_METHOD = WireProblem.GET_ONLY;

    public static final Problem NO_TCP = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster lists no upstream for this server name");
    public static final Problem BROKEN_CONNECTION = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream reset the connection");

    /** How BoringSSL and Java report an alert. */
    private static final Pattern ALERT = Pattern.compile("_ALERT_|^(?:Received|\\(\\w+\\)) .*alert");

    private UpstreamProblem() {}

    public static Problem refused(String detail) {
        return Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM, detail);
    }

    /** Returns the problem of a TLS handshake with an upstream that failed. */
    public static Problem noTls(Throwable cause) {
        return Problem.of(Cause.UPSTREAM_TLS, Hop.UPSTREAM, detail(cause));
    }

    private static String detail(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case UntrustedServerException untrusted -> {
                    return switch (untrusted.reason()) {
                        case ENDED -> "the upstream's certificate, or its authority's, has ended";
                        case EARLY -> "the upstream's certificate, or its authority's, is not valid yet";
                        case AUTHORITY ->
                            "the upstream's certificate is signed by no authority that is trusted here";
                        case HOST -> "the upstream's certificate is for other hosts";
                        case OTHER -> "the upstream's certificate is not valid";
                    };
                }
                case NotSslRecordException plain -> {
                    return "the upstream does not speak TLS";
                }
                case SslHandshakeTimeoutException late -> {
                    return "the upstream did not finish the TLS handshake in time";
                }
                case ClosedChannelException closed -> {
                    return "the upstream closed the connection during the TLS handshake";
                }
                default -> {
                    // The cause below says more.
                }
            }
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SSLException && ALERT.matcher(String.valueOf(cause.getMessage())).find()) {
                return "the upstream refused the TLS handshake";
            }
        }
        return "the TLS handshake with the upstream failed";
    }

    /**
     * Returns the problem of an exchange that an HTTP/2 upstream reset. {@code code} is a name such as
     * {@code CANCEL}.
     */
    public static Problem streamReset(String code) {
        return Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM, "the upstream reset the exchange: " + code);
    }

    /** Returns the problem of a response whose head exceeds a limit. */
    public static Problem largeHead(UpstreamLimits limits) {
        return Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM,
                "the head of the upstream's response exceeds "
                        + new ByteSize(limits.headBytes()) + " or " + limits.headFields()
                        + " fields (upstreams.maxHeadBytes, upstreams.maxHeadFields)");
    }

    /** Returns the problem of a response that can't be decoded. */
    public static Problem badResponse(Throwable cause, UpstreamLimits limits) {
        return cause instanceof TooLongHttpHeaderException
                ? largeHead(limits)
                : cause instanceof JudgedMessage.Fault
                        ? Problem.of(BAD_RESPONSE.cause(), BAD_RESPONSE.hop(),
                                BAD_RESPONSE.detail() + ": " + cause.getMessage())
                        : BAD_RESPONSE;
    }

    public static Problem badRequest(String detail) {
        return Problem.of(Cause.BAD_REQUEST, Hop.EDGE, detail);
    }

    public static Problem methodNotAllowed(CharSequence method) {
        return Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.EDGE, method + " is not forwarded");
    }
}
