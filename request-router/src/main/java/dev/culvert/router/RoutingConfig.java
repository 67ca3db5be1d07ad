package dev.culvert.router;

import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.config.Setting;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Routes, policy and addresses: what a router is told, in its own pod ({@link RouterConfig}) or as {@code router:} of a
 * tunnel client.
 *
 * @param routes what goes where; empty: {@link #defaultRoutes}. At most 1000, no two with the same path
 * @param tcp where raw connections may lead; empty: nowhere. At most 1000, no two with the same name or host
 * @param policy what the cluster allows
 * @param resolve addresses that win over DNS, by {@code host} or {@code host:port}; hosts in lower case
 */
public record RoutingConfig(
        @Setting(value = ROUTES, accepts = ROUTES_ACCEPTS, fileOnly = true) List<RouteConfig> routes,
        @Setting(value = TCP, accepts = TCP_ACCEPTS, fileOnly = true) List<TcpRouteConfig> tcp,
        Policy policy,
        @Setting(value = RESOLVE, accepts = RESOLVE_ACCEPTS) Map<String, HostPort> resolve) {

    static final String ROUTES = "What goes where; left out: App-Proxy, workflows and webhooks as in a GitOps runtime";
    static final String ROUTES_ACCEPTS = "a list of routes, each with path and to";
    static final String TCP = "Upstreams that raw connections may reach, by the server name of their TLS handshake; nothing listed: none";
    static final String TCP_ACCEPTS = "a list, each with to and with name or host";
    static final String RESOLVE = "Addresses that win over DNS, for names that DNS does not know";
    static final String RESOLVE_ACCEPTS = "host or host:port, each with the host:port to dial";

    /** Every request looks at them one by one. */
    private static final int MAX_ROUTES = 1000;

    public RoutingConfig {
        routes = List.copyOf(routes);
        if (routes.size() > MAX_ROUTES) {
            throw new ConfigException("routes", "at most " + MAX_ROUTES + " routes");
        }
        requireDistinct(routes);
        tcp = List.copyOf(tcp);
        TcpTable.of(tcp);
        resolve = lowerCase(resolve);
    }

    /** Without raw connections. */
    public RoutingConfig(List<RouteConfig> routes, Policy policy, Map<String, HostPort> resolve) {
        this(routes, List.of(), policy, resolve);
    }

    /** The default routes, an empty policy (every webhook is refused) and DNS alone. */
    public static RoutingConfig defaults() {
        return new RoutingConfig(List.of(), Policy.refusing(), Map.of());
    }

    /** The routes of the GitOps runtime: App-Proxy, workflows server, event sources. */
    public static List<RouteConfig> defaultRoutes() {
        return List.of(RouteConfig.of("/app-proxy/", "http://cap-app-proxy:3017"),
                new RouteConfig("/workflows/", "http://argo-server:2746", true, null, null, null),
                RouteConfig.of("/webhooks/{namespace}/{eventSource}/",
                        "http://{eventSource}-eventsource-svc.{namespace}.svc.cluster.local"));
    }

    /** The routes in force: those configured, else the default ones. */
    public List<RouteConfig> effectiveRoutes() {
        return routes.isEmpty() ? defaultRoutes() : routes;
    }

    private static void requireDistinct(List<RouteConfig> routes) {
        Set<String> seen = new HashSet<>();
        for (RouteConfig route : routes) {
            if (!seen.add(PathPattern.parse(route.path()).shape())) {
                throw new ConfigException("routes",
                        "each path once; " + route.path() + " is matched by an earlier route");
            }
        }
    }

    private static Map<String, HostPort> lowerCase(Map<String, HostPort> resolve) {
        Map<String, HostPort> lower = new HashMap<>();
        resolve.forEach((name, address) -> {
            if (address.port() == 0) {
                throw new ConfigException("resolve", "an address with a port of 1..65535 for " + name);
            }
            if (lower.put(name.toLowerCase(Locale.ROOT), address) != null) {
                throw new ConfigException("resolve", "each host once; " + name + " stands there twice");
            }
        });
        return Map.copyOf(lower);
    }

    /**
     * What the cluster allows, whatever the platform says.
     *
     * @param webhooks which event sources may be reached
     */
    public record Policy(Webhooks webhooks) {
        /** Refuses every webhook. */
        public static Policy refusing() {
            return allowing(List.of());
        }

        /** Allows these event sources, each {@code namespace/eventSource} with {@code *} for any text. */
        public static Policy allowing(List<String> webhooks) {
            return new Policy(new Webhooks(webhooks));
        }
    }

    /**
     * The event sources that routes with a template may reach.
     *
     * @param allow {@code namespace/eventSource} each, where {@code *} stands for any text within a segment
     */
    public record Webhooks(
            @Setting(value = "Event sources that webhooks may reach; nothing listed: every webhook is refused", accepts = "namespace/eventSource each, * for any text within a segment, as argo/*,ci/github", byDefault = "") List<String> allow) {
        public Webhooks {
            allow = List.copyOf(allow);
            allow.forEach(entry -> AllowList.parse(List.of(entry)));
        }
    }
}
