package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.time.Duration;

/** The problems of exchanges at the edge that several classes report. */
public final class EdgeProblems {
    /** Sent to the runtime: the caller no longer waits for the response. */
    public static final Problem CALLER_GONE = Problem.of(Cause.BAD_REQUEST, Hop.EDGE, "the caller went away");
    public static final Problem TOO_SLOW = Problem.of(Cause.OVERLOADED, Hop.EDGE,
            "the caller reads too slowly, and memory is short");
    public static final Problem GAVE_WAY = Problem.of(Cause.OVERLOADED, Hop.EDGE,
            "memory is short, and the caller's address holds most of it").retryAfter(Duration.ofSeconds(5));
    static final Problem SLOW_UPSTREAM = Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM,
            "the upstream reads the request's body too slowly, and memory is short");
    public static final Problem MALFORMED_HEAD = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "the head is not valid HTTP/2");
    public static final Problem HEAD_TOO_LARGE = Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE,
            "the head is too large");
    public static final Problem MALFORMED_BODY = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "the body is malformed");
    public static final Problem STOPPING = Problem.of(Cause.DRAINING, Hop.EDGE, "the server stops");

    private EdgeProblems() {}

    /** Returns the problem of an upstream's response that cannot be forwarded. */
    static Problem broken(String detail) {
        return Problem.of(Cause.UPSTREAM_BAD_RESPONSE, Hop.UPSTREAM, detail);
    }
}
