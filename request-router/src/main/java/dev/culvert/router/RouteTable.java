package dev.culvert.router;

import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.RawPath;
import java.util.Comparator;
import java.util.List;

/**
 * The routes and the cluster's policy. Matching is a pure function of the raw target: nothing is decoded, merged or
 * normalised before it, and what was matched is what is sent. Immutable, safe for use by any thread.
 */
final class RouteTable {
    private static final RouteMatch MALFORMED = new RouteMatch.Refused(Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
            "the path holds a dot segment, a backslash, a control byte or a broken escape"));
    private static final RouteMatch NO_ROUTE = new RouteMatch.Refused(
            Problem.of(Cause.NO_ROUTE, Hop.ROUTER, "no route of this cluster matches the path"));

    private final List<Route> routes;
    private final AllowList allowed;

    private RouteTable(List<Route> routes, AllowList allowed) {
        this.routes = routes;
        this.allowed = allowed;
    }

    /** The table of a configuration. */
    static RouteTable of(RoutingConfig config) {
        List<Route> routes = config.effectiveRoutes()
                .stream()
                .map(Route::new)
                .sorted(Comparator.comparing(Route::pattern, PathPattern.MOST_SPECIFIC_FIRST))
                .toList();
        return new RouteTable(routes, AllowList.parse(config.policy().webhooks().allow()));
    }

    /** Whether an upstream speaks TLS. */
    boolean tls() {
        return routes.stream().anyMatch(Route::tls);
    }

    /** Where a raw request target leads. */
    RouteMatch match(String target) {
        int question = target.indexOf('?');
        String path = question < 0 ? target : target.substring(0, question);
        String query = question < 0 ? "" : target.substring(question);
        if (!RawPath.wellFormed(path)) {
            return MALFORMED;
        }
        for (Route route : routes) {
            RouteMatch match = route.match(path, query, allowed);
            if (match != null) {
                return match;
            }
        }
        return NO_ROUTE;
    }
}
