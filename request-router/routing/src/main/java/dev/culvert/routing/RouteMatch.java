package dev.culvert.routing;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.upstream.UpstreamAddress;

/** The destination of a request. */
sealed interface RouteMatch {
    /**
     * Forwards the request to an upstream.
     *
     * @param target the forwarded target: the upstream's own path, the request's path, and the unchanged
     *     query
     */
    record Forward(Route route, UpstreamAddress address, String target) implements RouteMatch {}

    /** Refuses the request. */
    record Refused(Problem problem) implements RouteMatch {}
}
