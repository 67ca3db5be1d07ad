package dev.culvert.routing;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.upstream.UpstreamAddress;

/** Where a request target leads. */
sealed interface RouteMatch {
    /**
     * To an upstream.
     *
     * @param target what is sent: the upstream's own path, the request's path, the query as it came
     */
    record Forward(Route route, UpstreamAddress address, String target) implements RouteMatch {}

    /** Nowhere. */
    record Refused(Problem problem) implements RouteMatch {}
}
