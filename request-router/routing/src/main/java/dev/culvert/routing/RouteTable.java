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
 * The routes and the cluster's policy. Matching is a pure function of the raw request: nothing is decoded, merged or
 * normalised before it, and what was matched is what is sent. Immutable, safe for use by any thread.
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

    /** The table of a configuration. Throws ConfigException for the key of a route that nothing reaches. */
    static RouteTable of(RoutingConfig config) {
        return new RouteTable(config.effectiveRoutes().stream().map(Route::new).toList(),
                AllowList.parse(config.policy().webhooks().allow()), config.policy().requests().rules());
    }

    /** Throws ConfigException for the key of a route that others leave no request, as {@code routes[2].path}. */
    static void requireReachable(List<RouteConfig> routes) {
        RouteIndex.of(routes, RouteConfig::rule);
    }

    List<Route> routes() {
        return routes;
    }

    /** Where routes lead; names with variables as one of those that they may stand for. */
    List<UpstreamAddress> upstreams() {
        return routes.stream().map(Route::upstream).toList();
    }

    /** The route that takes a request, whatever the policy says; null: none. */
    @Nullable
    Route find(RouteQuery query) {
        return RawPath.wellFormed(query.path()) ? index.find(query) : null;
    }

    /**
     * Where a request leads.
     *
     * @param caller where it came from, behind the trusted proxies; asked only where a route looks at it
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
