package dev.culvert.relay.exchange;

import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.relay.SpelledNames;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;

/** Ends requests with their trailer section, reduced to the fields that may be forwarded. */
public final class RequestTrailers {
    /**
     * Fields that frame, route, modify, authorise or describe a request belong in its head (RFC 9110 §6.5.1).
     * A recipient that merges trailers into the head would mistake them for the head's. The gateway's own
     * fields are removed, too.
     */
    private static final List<AsciiString> OF_THE_HEAD = List.of("content-length", "host", "trailer",
            "expect",
            "max-forwards", "authorization", "cookie", "range", "if-match", "if-none-match",
            "if-modified-since",
            "if-unmodified-since", "if-range", "cache-control", "pragma", "content-type", "content-encoding",
            "content-range", "te", "upgrade", "forwarded", "via", "x-forwarded-for", "x-forwarded-proto",
            "x-forwarded-host", "x-forwarded-port", "x-request-id", "traceparent", "tracestate")
            .stream()
            .map(AsciiString::cached)
            .toList();

    private RequestTrailers() {}

    /** Ends an HTTP/1.1 request. */
    public static void end(EdgeExchange exchange, HttpHeaders received, CallerLimits limits) {
        if (received.isEmpty()) {
            exchange.requestEnd(null);
        } else if (received.size() > limits.maxHeadFields()) {
            exchange.malformedBody(tooLarge());
        } else {
            exchange.requestEnd(crossing(received));
        }
    }

    /**
     * Whether no value ends with white space (RFC 9113 §8.2.1). The codec checks only the start of a value.
     */
    public static boolean areTrimmed(Http2Headers received) {
        for (Map.Entry<CharSequence, CharSequence> field : received) {
            CharSequence value = field.getValue();
            char last = value.isEmpty() ? 'x' : value.charAt(value.length() - 1);
            if (last == ' ' || last == '\t') {
                return false;
            }
        }
        return true;
    }

    private static Http2Headers crossing(HttpHeaders received) {
        var trailers = new HeadFields(received.size());
        SpelledNames.add(received, trailers);
        return crossing(trailers);
    }

    /** Ends an HTTP/2 request. */
    public static void end(EdgeExchange exchange, Http2Headers received, CallerLimits limits) {
        if (received.size() > limits.maxHeadFields()) {
            exchange.malformedBody(tooLarge());
        } else if (areSound(received)) {
            exchange.requestEnd(crossing(received));
        } else {
            exchange.malformedBody(EdgeProblems.MALFORMED_BODY);
        }
    }

    /** Whether trailers have no pseudo-fields (RFC 9113 §8.1) and no trailing white space. */
    private static boolean areSound(Http2Headers received) {
        for (CharSequence name : received.names()) {
            if (name.isEmpty() || name.charAt(0) == ':') {
                return false;
            }
        }
        return areTrimmed(received);
    }

    private static Http2Headers crossing(Http2Headers trailers) {
        ForwardingRules.response(trailers, false);
        OF_THE_HEAD.forEach(trailers::remove);
        return trailers;
    }

    /** Returns the problem of a body that cannot be decoded further. */
    public static Problem malformed(HttpContent content) {
        return content.decoderResult().cause() instanceof TooLongFrameException
                ? tooLarge()
                : EdgeProblems.MALFORMED_BODY;
    }

    private static Problem tooLarge() {
        return Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE,
                "the trailers, or a line of the body, are too large");
    }
}
