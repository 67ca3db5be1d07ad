package dev.culvert.relay;

import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.time.Duration;
import java.util.List;

/** Converts problems to and from the numbers of a tunnel's RESET frame (docs/protocol.md §10). */
public final class WireProblem {
    /**
     * The upstream cancelled its response, as RST_STREAM with CANCEL does. A RESET carries this as the code
     * {@code CANCELLED}.
     */
    public static final Problem UPSTREAM_CANCELLED = Problem.of(Cause.UPSTREAM_RESET, Hop.UPSTREAM,
            "the upstream reset the exchange: CANCEL");

    /**
     * DNS answered that there is no such upstream, and values of the caller are part of its name. A RESET
     * carries this as its detail. Other details say that a name does not resolve for another reason.
     */
    public static final Problem NO_NAME = Problem.of(Cause.UPSTREAM_REFUSED, Hop.UPSTREAM,
            "the upstream's name does not resolve: DNS knows no such name");

    /** Only POSTs are verified, so the route takes nothing else. A RESET carries this as its detail. */
    public static final Problem POST_ONLY = Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.ROUTER,
            "this route verifies signatures of webhooks, and takes POST only");

    /** The path has a document of the router itself. A RESET carries this as its detail. */
    public static final Problem GET_ONLY = Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.ROUTER,
            "this path allows only GET and HEAD");

    /** In the order of docs/protocol.md §10, from 1. Add new causes only at the end. */
    private static final List<Cause> CAUSES = List.of(Cause.UNKNOWN_HOST, Cause.NO_ROUTE, Cause.NOT_ALLOWED,
            Cause.NO_TUNNEL, Cause.DRAINING, Cause.OVERLOADED, Cause.TUNNEL_LOST, Cause.UPSTREAM_REFUSED,
            Cause.UPSTREAM_RESET, Cause.UPSTREAM_TLS, Cause.UPSTREAM_BAD_RESPONSE, Cause.UPSTREAM_TIMEOUT,
            Cause.BAD_REQUEST, Cause.UNAUTHORIZED, Cause.BAD_SIGNATURE, Cause.METHOD_NOT_ALLOWED,
            Cause.REQUEST_TIMEOUT, Cause.CONFLICT, Cause.BODY_TOO_LARGE, Cause.URI_TOO_LONG,
            Cause.UPGRADE_REQUIRED,
            Cause.RATE_LIMITED, Cause.HEAD_TOO_LARGE, Cause.LOOP_DETECTED, Cause.NOT_FOUND, Cause.INTERNAL,
            Cause.UNAVAILABLE, Cause.MISDIRECTED_REQUEST, Cause.STORE_UNAVAILABLE);
    private static final List<Hop> HOPS = List.of(Hop.EDGE, Hop.TUNNEL, Hop.ROUTER, Hop.UPSTREAM);
    /** The {@code Retry-After} of a problem caused by a limit behind the tunnel. */
    private static final Duration OVERLOAD_WAIT = Duration.ofSeconds(1);

    private WireProblem() {}

    /** Returns the methods that the {@code Allow} field of a 405 names (RFC 9110 §15.5.6). */
    public static String allowed(Problem refused) {
        if (refused.detail().equals(POST_ONLY.detail())) {
            return "POST";
        }
        return refused.detail().equals(GET_ONLY.detail()) ? "GET, HEAD" : TargetForm.SERVED_METHODS;
    }

    /** Returns the number of a cause, from 1. */
    public static int number(Cause cause) {
        return CAUSES.indexOf(cause) + 1;
    }

    /** Returns the number of a hop, from 1. */
    public static int number(Hop hop) {
        return HOPS.indexOf(hop) + 1;
    }

    /**
     * Returns the problem that a reset reports.
     *
     * @param cause the number received; an unknown one gives {@code otherwise}
     * @param hop the number received; an unknown one gives {@code tunnel}
     * @param detail the peer's text; if it is empty, the title of the cause is used
     */
    public static Problem problem(int cause, int hop, String detail, Cause otherwise) {
        Cause known = cause >= 1 && cause <= CAUSES.size() ? CAUSES.get(cause - 1) : otherwise;
        Hop where = hop >= 1 && hop <= HOPS.size() ? HOPS.get(hop - 1) : Hop.TUNNEL;
        Problem problem = Problem.of(known, where, detail.isEmpty() ? known.title() : detail);
        return known.status() == 503 ? problem.retryAfter(OVERLOAD_WAIT) : problem;
    }
}
