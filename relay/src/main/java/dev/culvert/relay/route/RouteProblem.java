package dev.culvert.relay.route;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.WireProblem;

/**
 * The problems of requests that are refused before they have a route, or by their route. None names an inner
 * host.
 */
public final class RouteProblem {
    /** Other servers might read the path differently. */
    public static final Problem MALFORMED = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "the path holds a dot segment, a backslash, a control byte or a broken escape");
    /** No route matches. */
    public static final Problem NO_ROUTE = Problem.of(Cause.NO_ROUTE, Hop.ROUTER,
            "no route of this cluster matches the request");
    /** The value of a variable cannot be part of a host name. */
    public static final Problem NOT_A_LABEL = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "namespace and event source must be DNS labels: letters a-z, digits and hyphens, at most 63");
    /** The value of a variable could be read as more than one segment. */
    public static final Problem NOT_A_SEGMENT = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "a segment of the path is empty or holds an encoded slash, question mark, number sign or colon");
    /** The allow-list of webhooks does not contain the event source. */
    public static final Problem EVENT_SOURCE = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster's policy does not allow this event source");
    /** The request policy does not allow method and path. */
    public static final Problem REQUEST = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster's policy does not allow this method and path from outside");
    /** The route's list of sources does not contain the caller's address. */
    public static final Problem SOURCE_ADDRESS = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster does not allow this route from the caller's address");

    /** The route verifies signatures. */
    public static final Problem POST_ONLY = WireProblem.POST_ONLY;

    private RouteProblem() {}
}
