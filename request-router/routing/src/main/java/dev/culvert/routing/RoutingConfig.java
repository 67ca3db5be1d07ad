package dev.culvert.routing;

import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.relay.route.AllowList;
import dev.culvert.relay.route.AnnouncedRoute;
import dev.culvert.relay.route.Announcement;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.relay.route.RequestPolicy;
import dev.culvert.relay.route.RequestRule;
import dev.culvert.relay.route.SigningSecrets;
import dev.culvert.relay.route.SourceList;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Routes, policy and addresses: the configuration of a router in its own pod ({@code RouterConfig}) or under
 * {@code router:} of a tunnel client.
 *
 * @param routes the routes; empty: {@link #defaultRoutes}. At most 10,000, each of which is reachable
 * @param tcp the upstreams of raw connections; empty: none. At most 1000, no two with the same name or host
 * @param policy the cluster's policy
 * @param resolve addresses that override DNS, by {@code host} or {@code host:port}; hosts in lower case, with
 *     at least one address each
 * @param trustedProxies the networks of proxies between callers and the peer of this router
 * @param upstreams the resolution of upstreams and the trust in them
 * @param runtimeVersion the version of the GitOps runtime that is served; null: a version with a router
 */
public record RoutingConfig(
        @Setting(value = ROUTES, accepts = ROUTES_ACCEPTS, fileOnly = true) List<RouteConfig> routes,
        @Setting(value = TCP, accepts = TCP_ACCEPTS, fileOnly = true) List<TcpRouteConfig> tcp,
        Policy policy,
        @Setting(value = RESOLVE, accepts = RESOLVE_ACCEPTS) Map<String, List<HostPort>> resolve,
        @Setting(value = TRUSTED, accepts = TRUSTED_ACCEPTS, byDefault = "") List<String> trustedProxies,
        Reach upstreams,
        @Setting(value = RUNTIME_VERSION, accepts = RuntimeVersion.ACCEPTS) @Nullable String runtimeVersion) {

    public static final String ROUTES = "Routes; default: App-Proxy, workflows and webhooks as in a GitOps runtime";
    public static final String ROUTES_ACCEPTS = "a list of routes, each with path and to";
    public static final String TCP = "Upstreams that raw connections may reach, by the server name of their TLS handshake; empty: none";
    public static final String TCP_ACCEPTS = "a list, each with to and with name or host";
    public static final String RESOLVE = "Addresses that override DNS, for names that DNS does not know";
    public static final String RESOLVE_ACCEPTS = "host or host:port, each with the host:port to dial, or a list of them";
    static final String TRUSTED = "Networks whose X-Forwarded-For is trusted when a route restricts its callers' addresses";
    public static final String TRUSTED_ACCEPTS = "addresses or CIDR blocks, as 10.0.0.0/8,::1";

    public static final String RUNTIME_VERSION = "Version of the GitOps runtime that is served: a version before 0.0.543 had no router and gets the routes that its ingress had";

    /** The maximum number of addresses of one name. More are a configuration error. */
    private static final int MAX_ADDRESSES = 100;
    /** This path was not in the ingress of runtimes without a router. */
    private static final String WORKFLOWS = "/workflows/";

    /**
     * The maximum number of routes. The cost of a look-up does not depend on it; reading and checking this
     * many takes well under a second.
     */
    private static final int MAX_ROUTES = 10_000;

    public RoutingConfig {
        routes = List.copyOf(routes);
        if (routes.size() > MAX_ROUTES) {
            throw new ConfigException("routes", "at most " + MAX_ROUTES + " routes");
        }
        RouteTable.requireReachable(routes);
        tcp = List.copyOf(tcp);
        TcpTable.of(tcp);
        resolve = lowerCase(resolve);
        trustedProxies = List.copyOf(trustedProxies);
        requireBlocks("trustedProxies", trustedProxies);
        RuntimeVersion.require(runtimeVersion);
    }

    /** A configuration without trusted proxies. */
    public RoutingConfig(List<RouteConfig> routes, List<TcpRouteConfig> tcp, Policy policy,
            Map<String, List<HostPort>> resolve) {
        this(routes, tcp, policy, resolve, List.of(), Reach.usual(), null);
    }

    /** A configuration without raw connections, with one address for each name. */
    public RoutingConfig(List<RouteConfig> routes, Policy policy, Map<String, HostPort> resolve) {
        this(routes, List.of(), policy, alone(resolve));
    }

    /** This configuration with these trusted proxies. */
    public RoutingConfig behind(List<String> proxies) {
        return new RoutingConfig(routes, tcp, policy, resolve, proxies, upstreams, runtimeVersion);
    }

    /** This configuration for a runtime of this version. */
    public RoutingConfig of(@Nullable String version) {
        return new RoutingConfig(routes, tcp, policy, resolve, trustedProxies, upstreams, version);
    }

    /** The resolution of upstreams' names. */
    UpstreamNames upstreamNames() {
        return new UpstreamNames(resolve, upstreams.dns()
                .stream()
                .map(server -> new InetSocketAddress(server.host(), server.port()))
                .toList());
    }

    /** This configuration with other settings of upstreams. */
    public RoutingConfig reaching(Reach settings) {
        return new RoutingConfig(routes, tcp, policy, resolve, trustedProxies, settings, runtimeVersion);
    }

    private static Map<String, List<HostPort>> alone(Map<String, HostPort> resolve) {
        Map<String, List<HostPort>> lists = new HashMap<>();
        resolve.forEach((name, address) -> lists.put(name, List.of(address)));
        return lists;
    }

    public static void requireBlocks(String key, List<String> networks) {
        try {
            SourceList.parse(networks);
        } catch (ConfigException e) {
            throw new ConfigException(key, TRUSTED_ACCEPTS);
        }
    }

    /** The default routes, an empty policy (every webhook is refused), and DNS only. */
    public static RoutingConfig defaults() {
        return new RoutingConfig(List.of(), List.of(), Policy.refusing(), Map.of());
    }

    /** The routes of the GitOps runtime: App-Proxy, workflows server, event sources. */
    public static List<RouteConfig> defaultRoutes() {
        return List.of(RouteConfig.of("/app-proxy/", "http://cap-app-proxy:3017"),
                new RouteConfig(WORKFLOWS, "http://argo-server:2746", true, null, null, null),
                RouteConfig.of("/webhooks/{namespace}/{eventSource}/",
                        "http://{eventSource}-eventsource-svc.{namespace}.svc.cluster.local"));
    }

    /** The effective routes: those configured, else the default routes of the runtime's version. */
    public List<RouteConfig> effectiveRoutes() {
        if (!routes.isEmpty()) {
            return routes;
        }
        return RuntimeVersion.hasRouter(runtimeVersion)
                ? defaultRoutes()
                : defaultRoutes().stream().filter(route -> !route.path().equals(WORKFLOWS)).toList();
    }

    /**
     * The announcement to the server. Throws ConfigException for the key {@code routes} if it is too large.
     *
     * @param secrets returns the secrets of a file of {@link #sharedSecretFiles}
     */
    public Announcement announcement(Function<Path, SigningSecrets> secrets) {
        return Announcement.of(announced(secrets), policy.webhooks().allow(), policy.requests().rules());
    }

    /** The durable routes and their signature verification, for an inbox in the router's process. */
    public DurableRoutes durableRoutes() {
        return DurableRoutes.beforeRouter(announced(file -> SigningSecrets.NONE), policy.webhooks().allow(),
                policy.requests().rules());
    }

    private List<AnnouncedRoute> announced(Function<Path, SigningSecrets> secrets) {
        return effectiveRoutes().stream().map(route -> route.announced(secrets)).toList();
    }

    /** The files of the secrets for verifying webhooks. */
    public Set<Path> secretFiles() {
        return files(route -> true);
    }

    /** The secret files that are shared with the server. */
    public Set<Path> sharedSecretFiles() {
        return files(RouteConfig::sharesSecrets);
    }

    private Set<Path> files(Predicate<RouteConfig> of) {
        return effectiveRoutes().stream()
                .filter(of)
                .map(RouteConfig::verify)
                .filter(Objects::nonNull)
                .map(RouteConfig.Verify::secretFile)
                .collect(Collectors.toUnmodifiableSet());
    }

    private static Map<String, List<HostPort>> lowerCase(Map<String, List<HostPort>> resolve) {
        Map<String, List<HostPort>> lower = new HashMap<>();
        resolve.forEach((name, addresses) -> {
            if (addresses.isEmpty() || addresses.size() > MAX_ADDRESSES
                    || addresses.stream().anyMatch(address -> address.port() == 0)) {
                throw new ConfigException("resolve",
                        "1 to " + MAX_ADDRESSES + " addresses with a port of 1..65535 for " + name);
            }
            if (lower.put(name.toLowerCase(Locale.ROOT), List.copyOf(addresses)) != null) {
                throw new ConfigException("resolve", "each host once; " + name + " stands there twice");
            }
        });
        return Map.copyOf(lower);
    }

    /**
     * The resolution of upstreams and the trust in them.
     *
     * @param ca the file of the authorities that may issue upstreams' certificates; null: the public
     *     authorities
     * @param dns the DNS servers; empty: the system's
     * @param maxHeadBytes the maximum bytes of a response's head
     * @param maxHeadFields the maximum fields of a response's head
     * @param postQuantum whether the key exchange with https upstreams must be safe from quantum computers
     */
    public record Reach(
            @Setting("PEM file of the authorities that certificates of https:// upstreams may come from, in place of the public ones") @Nullable Path ca,
            @Setting(value = "DNS servers, asked one after the other, in place of the system's", accepts = "address:port each, as 10.96.0.10:53", byDefault = "") List<HostPort> dns,
            @Setting(value = "Bytes of the head of an upstream's response; more is answered 502. A tunnel takes 160 KiB", byDefault = "128KiB", accepts = "8KiB..1MiB") ByteSize maxHeadBytes,
            @Setting(value = "Fields of the head of an upstream's response; more is answered 502. A tunnel takes 320", byDefault = "256", accepts = "64..10000") int maxHeadFields,
            @Setting(value = "Whether X25519MLKEM768 is preferred with https:// upstreams, or required: then their TLS is 1.3 only, and one without it is answered 502", byDefault = "prefer") PostQuantum postQuantum) {
        public Reach {
            if (maxHeadBytes.bytes() < 8 << 10 || maxHeadBytes.bytes() > 1 << 20) {
                throw new ConfigException("maxHeadBytes", "8KiB..1MiB");
            }
            if (maxHeadFields < 64 || maxHeadFields > 10_000) {
                throw new ConfigException("maxHeadFields", "64..10000");
            }
            postQuantum = postQuantum.checked();
            dns = List.copyOf(dns);
            if (!dns.stream()
                    .allMatch(server -> NetUtil.isValidIpV4Address(server.host())
                            || NetUtil.isValidIpV6Address(server.host()))
                    || dns.size() > 8) {
                throw new ConfigException("dns", "at most 8, address:port each, as 10.96.0.10:53");
            }
        }

        /** The usual limits of heads. */
        public Reach(@Nullable Path ca, List<HostPort> dns) {
            this(ca, dns, new ByteSize(UpstreamLimits.HEAD_BYTES), UpstreamLimits.HEAD_FIELDS,
                    PostQuantum.PREFER);
        }

        /** These limits, with the configured ones of heads. */
        UpstreamLimits of(UpstreamLimits limits) {
            return limits.heads((int) maxHeadBytes.bytes(), maxHeadFields);
        }

        /** The public authorities, the system's DNS. */
        public static Reach usual() {
            return new Reach(null, List.of());
        }
    }

    /**
     * The cluster's policy. It overrides the platform.
     *
     * @param webhooks the event sources that may be reached
     * @param requests the methods and paths that may be reached
     */
    public record Policy(Webhooks webhooks, Requests requests) {
        /** Refuses every webhook. */
        public static Policy refusing() {
            return allowing(List.of());
        }

        /**
         * Allows these event sources, each {@code namespace/eventSource}, where {@code *} matches any text.
         */
        public static Policy allowing(List<String> webhooks) {
            return new Policy(new Webhooks(webhooks), new Requests(List.of(), List.of()));
        }
    }

    /**
     * The event sources that routes with a template may reach.
     *
     * @param allow event sources, each {@code namespace/eventSource}, where {@code *} matches any text within
     *     a segment
     */
    public record Webhooks(
            @Setting(value = "Event sources that webhooks may reach; empty: every webhook is refused", accepts = "namespace/eventSource each, * for any text within a segment, as argo/*,ci/github", byDefault = "") List<String> allow) {
        public Webhooks {
            allow = List.copyOf(allow);
            allow.forEach(entry -> AllowList.parse(List.of(entry)));
            AllowList.parse(allow);
        }
    }

    /**
     * The methods and paths that may be reached from outside, on any route.
     *
     * @param allow the allowed requests; empty: all that are not denied
     * @param deny the denied requests; overrides {@code allow}
     */
    public record Requests(
            @Setting(value = "Requests that are allowed from outside; empty: all that are not denied", accepts = "a list, each with path and methods", fileOnly = true) List<Rule> allow,
            @Setting(value = "Requests that are denied, even if allow permits them, and in every spelling of their path", accepts = "a list, each with path and methods", fileOnly = true) List<Rule> deny) {
        public Requests {
            allow = List.copyOf(allow);
            deny = List.copyOf(deny);
            rules(allow, deny);
        }

        RequestPolicy rules() {
            return rules(allow, deny);
        }

        private static RequestPolicy rules(List<Rule> allow, List<Rule> deny) {
            return new RequestPolicy(rules(allow), rules(deny));
        }

        private static List<RequestRule> rules(List<Rule> rules) {
            List<RequestRule> read = new ArrayList<>(rules.size());
            rules.forEach(rule -> read.add(RequestRule.of(rule.path(), rule.methods())));
            return read;
        }
    }

    /**
     * A set of requests by path and method.
     *
     * @param path the path; {@code /x/} matches {@code /x} and all paths below, {@code {name}} any segment
     * @param methods the methods; empty: all
     */
    public record Rule(
            @Setting(value = "Path, with all paths below it; {name} matches any segment", accepts = "a path as /app-proxy/api/") String path,
            @Setting(value = "Methods; empty: all", accepts = "methods in upper case, as GET", byDefault = "") List<String> methods) {
        public Rule {
            methods = List.copyOf(methods);
            RequestRule.of(path, methods);
        }
    }
}
