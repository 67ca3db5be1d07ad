package dev.culvert.router;

import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.config.Setting;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * router.yaml: a router in its own pod.
 *
 * @param listen where it takes requests
 * @param dataDir folder of the webhook inbox; null: durable routes deliver directly
 * @param routes what goes where; empty: {@link RoutingConfig#defaultRoutes}
 * @param tcp where raw connections may lead, which come by a tunnel only
 * @param policy what the cluster allows
 * @param resolve addresses that win over DNS, by {@code host} or {@code host:port}
 * @param trustedProxies whose forwarding fields are believed
 */
public record RouterConfig(
        @Setting(value = "Address of the listener; port 0 picks a free one", byDefault = "0.0.0.0:8080") HostPort listen,
        @Setting("Folder of the webhook inbox; without it durable routes deliver directly, with a warning") @Nullable Path dataDir,
        @Setting(value = RoutingConfig.ROUTES, accepts = RoutingConfig.ROUTES_ACCEPTS, fileOnly = true) List<RouteConfig> routes,
        @Setting(value = RoutingConfig.TCP, accepts = RoutingConfig.TCP_ACCEPTS, fileOnly = true) List<TcpRouteConfig> tcp,
        RoutingConfig.Policy policy,
        @Setting(value = RoutingConfig.RESOLVE, accepts = RoutingConfig.RESOLVE_ACCEPTS) Map<String, HostPort> resolve,
        @Setting(value = RoutingConfig.TRUSTED, accepts = RoutingConfig.TRUSTED_ACCEPTS, byDefault = "") List<String> trustedProxies) {

    public RouterConfig {
        var routing = new RoutingConfig(routes, tcp, policy, resolve, trustedProxies);
        routes = routing.routes();
        tcp = routing.tcp();
        resolve = routing.resolve();
        trustedProxies = routing.trustedProxies();
    }

    /** The part that a router inside a tunnel client has as well. */
    public RoutingConfig routing() {
        return new RoutingConfig(routes, tcp, policy, resolve, trustedProxies);
    }
}
