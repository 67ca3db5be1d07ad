package dev.culvert.relay.route;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;

/** Why a request is refused before it has a route, or by its route. None names an inner host. */
public final class RouteProblem {
    /** Another server might read the path differently. */
    public static final Problem MALFORMED = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "the path holds a dot segment, a backslash, a control byte or a broken escape");
    /** Nothing matches. */
    public static final Problem NO_ROUTE = Problem.of(Cause.NO_ROUTE, Hop.ROUTER,
            "no route of this cluster matches the request");
    /** What stands at a variable can't be part of a host name. */
    public static final Problem NOT_A_LABEL = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "namespace and event source must be DNS labels: letters a-z, digits and hyphens, at most 63");
    /** What stands at a variable could be read as more than one segment. */
    public static final Problem NOT_A_SEGMENT = Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "a segment of the path is empty or holds an encoded slash, question mark, number sign or colon");
    /** The allow-list of webhooks. */
    public static final Problem EVENT_SOURCE = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster's policy does not allow this event source");
    /** The rules about methods and paths. */
    public static final Problem REQUEST = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster's policy does not allow this method and path from outside");
    /** The route's allow-list of addresses. */
    public static final Problem SOURCE_ADDRESS = Problem.of(Cause.NOT_ALLOWED, Hop.ROUTER,
            "the cluster does not allow this route from the caller's address");

    private RouteProblem() {}
}
