package dev.culvert.routing;

import dev.culvert.http.path.RawPath;
import dev.culvert.relay.route.AllowList;
import dev.culvert.relay.route.RequestPolicy;
import dev.culvert.relay.route.RouteIndex;
import dev.culvert.relay.route.RouteProblem;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.upstream.UpstreamAddress;
import java.net.InetAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The routes and the cluster's policy. Matching is a pure function of the raw request. The request is not
 * decoded, merged or normalised first, and the matched target is the forwarded one. Immutable, safe for use
 * by any thread.
 */
final class RouteTable {
    private static final RouteMatch MALFORMED = new RouteMatch.Refused(RouteProblem.MALFORMED);
    private static final RouteMatch DENIED = new RouteMatch.Refused(RouteProblem.REQUEST);
    private static final RouteMatch NO_ROUTE = new RouteMatch.Refused(RouteProblem.NO_ROUTE);

    private final List<Route> routes;
    private final RouteIndex<Route> index;
    private final AllowList webhooks;
    private final RequestPolicy requests;

    private RouteTable(List<Route> routes, AllowList webhooks, RequestPolicy requests) {
        this.routes = routes;
        this.index = RouteIndex.of(routes, Route::rule);
        this.webhooks = webhooks;
        this.requests = requests;
    }

    /** Builds the table of a configuration. Throws ConfigException for the key of an unreachable route. */
    static RouteTable of(RoutingConfig config) {
        return new RouteTable(config.effectiveRoutes().stream().map(Route::new).toList(),
                AllowList.parse(config.policy().webhooks().allow()), config.policy().requests().rules());
    }

    /**
     * Throws ConfigException for the key of a route that other routes hide completely, for example {@code
     * routes[2].path}.
     */
    static void requireReachable(List<RouteConfig> routes) {
        RouteIndex.of(routes, RouteConfig::rule);
    }

    List<Route> routes() {
        return routes;
    }

    /** The upstreams of all routes. A name with variables is represented by one possible name. */
    List<UpstreamAddress> upstreams() {
        return routes.stream().map(Route::upstream).toList();
    }

    /** The route that matches a request, regardless of the policy; null if none does. */
    @Nullable
    Route find(RouteQuery query) {
        return RawPath.wellFormed(query.path()) ? index.find(query) : null;
    }

    /**
     * The destination of a request.
     *
     * @param caller supplies the caller's address behind the trusted proxies; called only if a route
     *     restricts its sources
     */
    RouteMatch match(RouteQuery query, Supplier<@Nullable InetAddress> caller) {
        if (!RawPath.wellFormed(query.path())) {
            return MALFORMED;
        }
        if (!requests.allows(query.method(), query.path())) {
            return DENIED;
        }
        Route route = index.find(query);
        return route == null ? NO_ROUTE : route.forward(query, webhooks, caller);
    }
}
