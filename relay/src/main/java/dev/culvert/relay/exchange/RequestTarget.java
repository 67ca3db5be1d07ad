package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.handler.codec.http2.Http2Headers;

/** The limits and the length of a head, checked alike for all HTTP versions. */
public final class RequestTarget {
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

    public static EdgeException problem(Cause cause, String detail) {
        return new EdgeException(Problem.of(cause, Hop.EDGE, detail));
    }
}
