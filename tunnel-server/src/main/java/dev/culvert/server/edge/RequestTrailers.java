package dev.culvert.server.edge;

import dev.culvert.edge.ForwardingRules;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The trailer section of a request, and what of it crosses. */
final class RequestTrailers {
    /**
     * RFC 9110 §6.5.1: what frames, routes, modifies, authorises or describes a request is said in its head. A reader
     * that merges trailers into the head would take it for the head's. The gateway's own fields are its own here, too.
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

    /** Those of HTTP/1.1 that cross, or null when there are more than a head may have. */
    static @Nullable Http2Headers of(HttpHeaders received, CallerLimits limits) {
        if (received.size() > limits.maxHeadFields()) {
            return null;
        }
        Http2Headers trailers = new DefaultHttp2Headers(false, received.size());
        for (Map.Entry<String, String> field : received) {
            trailers.add(AsciiString.of(field.getKey()).toLowerCase(), field.getValue());
        }
        return crossing(trailers);
    }

    /** Those of HTTP/2 that cross, or null when they are malformed, or more than a head may have. */
    static @Nullable Http2Headers of(Http2Headers received, CallerLimits limits) {
        for (CharSequence name : received.names()) {
            if (name.isEmpty() || name.charAt(0) == ':') {
                return null;
            }
        }
        boolean sound = Http2RequestHead.areTrimmed(received) && received.size() <= limits.maxHeadFields();
        return sound ? crossing(received) : null;
    }

    private static Http2Headers crossing(Http2Headers trailers) {
        ForwardingRules.response(trailers, false);
        OF_THE_HEAD.forEach(trailers::remove);
        return trailers;
    }

    /** Why a body can't be read on. */
    static Problem malformed(HttpContent content) {
        return content.decoderResult().cause() instanceof TooLongFrameException
                ? tooLarge()
                : EdgeProblems.MALFORMED_BODY;
    }

    static Problem tooLarge() {
        return Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE,
                "the trailers, or a line of the body, are too large");
    }
}
