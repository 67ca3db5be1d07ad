package dev.culvert.router;

import dev.culvert.certs.CertificateFiles;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RuntimeVersion;
import dev.culvert.routing.TcpRouteConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a router in its own pod: router.yaml.
 *
 * @param listen the address of the listener
 * @param tls the listener's certificate; null: plain HTTP, for example behind an ingress controller
 * @param trustedProxies networks whose forwarding fields are trusted
 * @param inboxPeers networks of peers with their own inbox, which may mark a webhook as already stored
 * @param proxyProtocol whether connections begin with a PROXY protocol header, from trusted proxies only
 * @param limits the limits for callers
 * @param serverTiming whether responses contain the time spent per hop
 * @param accessLog whether each request is a line of the logger {@code access}
 * @param health the listener of health and metrics; null: none
 * @param admin the listener of calls on the inbox; null: none
 * @param dataDir folder of the webhook inbox; null: durable routes deliver directly
 * @param inbox the limits of the inbox
 * @param routes the routes; empty: {@link RoutingConfig#defaultRoutes}
 * @param tcp the upstreams of raw connections, which arrive only through a tunnel
 * @param policy the cluster's policy
 * @param resolve addresses that override DNS, by {@code host} or {@code host:port}
 * @param upstreams the resolution of upstreams and the trust in them
 * @param runtimeVersion the version of the GitOps runtime that is served; null: a version with a router
 */
public record RouterConfig(
        @Setting(value = "Address of the listener; port 0 picks a free one", byDefault = "0.0.0.0:8080") HostPort listen,
        @Nullable Tls tls,
        @Setting(value = "Networks of the ingress controllers: their X-Forwarded-* and Forwarded fields are trusted", accepts = RoutingConfig.TRUSTED_ACCEPTS, byDefault = "") List<String> trustedProxies,
        @Setting(value = "Networks of peers that have their own inbox: tunnel clients with routerUrl. Only they may mark a webhook as already stored, so that it is neither stored nor verified here; from other peers Culvert-Webhook-Id and Culvert-Delivery-Attempt are removed", accepts = RoutingConfig.TRUSTED_ACCEPTS, byDefault = "") List<String> inboxPeers,
        @Setting(value = "Whether connections begin with a PROXY protocol header (version 1 or 2), which contains the caller's address; then only trustedProxies may connect", byDefault = "false") boolean proxyProtocol,
        CallerLimits limits,
        @Setting(value = "Whether responses carry Server-Timing with the time per hop; off, because it reveals internals to callers", byDefault = "false") boolean serverTiming,
        @Setting(value = "Whether each request is a line of the log, by the logger access", byDefault = "true") boolean accessLog,
        @Nullable Health health,
        @Nullable Admin admin,
        @Setting("Folder of the webhook inbox; without it durable routes deliver directly, with a warning") @Nullable Path dataDir,
        InboxConfig inbox,
        @Setting(value = RoutingConfig.ROUTES, accepts = RoutingConfig.ROUTES_ACCEPTS, fileOnly = true) List<RouteConfig> routes,
        @Setting(value = RoutingConfig.TCP, accepts = RoutingConfig.TCP_ACCEPTS, fileOnly = true) List<TcpRouteConfig> tcp,
        RoutingConfig.Policy policy,
        @Setting(value = RoutingConfig.RESOLVE, accepts = RoutingConfig.RESOLVE_ACCEPTS) Map<String, List<HostPort>> resolve,
        RoutingConfig.Reach upstreams,
        @Setting(value = RoutingConfig.RUNTIME_VERSION, accepts = RuntimeVersion.ACCEPTS) @Nullable String runtimeVersion) {

    public RouterConfig {
        var routing = new RoutingConfig(routes, tcp, policy, resolve, trustedProxies, upstreams,
                runtimeVersion);
        trustedProxies = routing.trustedProxies();
        inboxPeers = List.copyOf(inboxPeers);
        RoutingConfig.requireBlocks("inboxPeers", inboxPeers);
        routes = routing.routes();
        tcp = routing.tcp();
        resolve = routing.resolve();
        if (admin != null && dataDir == null) {
            throw new ConfigException("dataDir",
                    "a folder where admin.listen is set, because its calls are on the inbox there");
        }
        if (admin != null && dataDir != null) {
            admin = admin.besides(dataDir);
        }
        if (proxyProtocol && trustedProxies.isEmpty()) {
            throw new ConfigException("trustedProxies",
                    "the addresses of the balancers, as 10.0.0.0/8, where proxyProtocol: true believes them");
        }
    }

    /** A plain HTTP listener with the default limits, without an inbox and without trusted peers. */
    public static RouterConfig of(HostPort listen, RoutingConfig routing) {
        return new RouterConfig(listen, null, routing.trustedProxies(), List.of(), false,
                CallerLimits.defaults(), false,
                true, null, null,
                null, InboxConfig.defaults(), routing.routes(), routing.tcp(), routing.policy(),
                routing.resolve(),
                routing.upstreams(), routing.runtimeVersion());
    }

    /** This configuration with trusted ingress controllers. */
    public RouterConfig behind(List<String> proxies, boolean proxyHeaders) {
        return new RouterConfig(listen, tls, proxies, inboxPeers, proxyHeaders, limits, serverTiming,
                accessLog, health, admin,
                dataDir, inbox, routes, tcp, policy, resolve, upstreams, runtimeVersion);
    }

    /** This configuration with peers in these networks that may mark webhooks as stored. */
    public RouterConfig afterInboxes(List<String> peers) {
        return new RouterConfig(listen, tls, trustedProxies, peers, proxyProtocol, limits, serverTiming,
                accessLog, health, admin, dataDir, inbox, routes, tcp, policy, resolve, upstreams,
                runtimeVersion);
    }

    /**
     * This configuration with a certificate, a listener for operators, and the folder of an inbox, each of
     * which may be null.
     */
    public RouterConfig with(@Nullable Tls certificate, @Nullable Health operators, @Nullable Path data) {
        return new RouterConfig(listen, certificate, trustedProxies, inboxPeers, proxyProtocol, limits,
                serverTiming,
                accessLog, operators, admin, data, inbox, routes, tcp, policy, resolve, upstreams,
                runtimeVersion);
    }

    /** This configuration with a listener for calls on the inbox; null: none. */
    public RouterConfig operatedBy(@Nullable Admin operators) {
        return new RouterConfig(listen, tls, trustedProxies, inboxPeers, proxyProtocol, limits, serverTiming,
                accessLog, health, operators, dataDir, inbox, routes, tcp, policy, resolve, upstreams,
                runtimeVersion);
    }

    /** This configuration with other limits. */
    public RouterConfig within(CallerLimits others) {
        return new RouterConfig(listen, tls, trustedProxies, inboxPeers, proxyProtocol, others, serverTiming,
                accessLog,
                health, admin, dataDir, inbox, routes, tcp, policy, resolve, upstreams, runtimeVersion);
    }

    /** The part of the configuration that a router inside a tunnel client has too. */
    public RoutingConfig routing() {
        return new RoutingConfig(routes, tcp, policy, resolve, trustedProxies, upstreams, runtimeVersion);
    }

    /**
     * The listener's certificate.
     *
     * @param certificate PEM chain, leaf first
     * @param key PEM private key
     * @param postQuantum whether the key exchange must be safe from quantum computers
     */
    public record Tls(
            @Setting("PEM file of the listener's certificate chain, leaf first; read again when it changes") Path certificate,
            @Setting("PEM file of its private key") Path key,
            @Setting(value = PostQuantum.TEXT, byDefault = "prefer") PostQuantum postQuantum) {
        public Tls {
            postQuantum = postQuantum.checked();
        }

        /** A certificate for callers with any key exchange. */
        public Tls(Path certificate, Path key) {
            this(certificate, key, PostQuantum.PREFER);
        }

        CertificateFiles files() {
            return new CertificateFiles(certificate, key);
        }
    }

    /**
     * The listener for operators. It is separate from the callers' listener, so that callers cannot read
     * internal data.
     *
     * @param listen its address
     */
    public record Health(
            @Setting("Address of /healthz, /readyz and /metrics, for operators: plain HTTP without a token. Default: none; the callers' listener serves /healthz and /readyz in any case") HostPort listen) {}

    /**
     * The listener for operators' calls on the inbox.
     *
     * @param listen its address
     * @param tokenFile the file of its bearer token; null: {@code admin.token} in the data folder
     * @param hosts names by which it is called, beside addresses and localhost
     * @param tls its certificate; null: plain HTTP, on loopback only
     */
    public record Admin(
            @Setting("Address of the admin API for the inbox, which culvert webhook calls: plain HTTP on a loopback address, unless admin.tls is set. Default: none") HostPort listen,
            @Nullable @Setting(value = "File of its bearer token; made with mode 0600 when absent. Default: admin.token in dataDir", variable = "CULVERT_ROUTER_ADMIN_TOKEN_FILE") Path tokenFile,
            @Setting(value = "Names by which it is called, beside addresses and localhost; requests by another name are answered 421, because a stranger's name may lead there (DNS rebinding)", accepts = "DNS names without port, as router.argo.svc", byDefault = "") List<String> hosts,
            @Nullable AdminTls tls) {
        private static final String TOKEN = "admin.token";

        public Admin {
            hosts = List.copyOf(hosts);
            try {
                AllowedHosts.of(hosts);
            } catch (IllegalArgumentException e) {
                throw new ConfigException("hosts", "DNS names without port, as router.argo.svc");
            }
            if (tls == null && !listen.isLoopback()) {
                throw new ConfigException("listen",
                        "a loopback address, as 127.0.0.1:9092, unless admin.tls is set");
            }
        }

        /** Plain HTTP, called by an address or as localhost. */
        public Admin(HostPort listen, Path tokenFile) {
            this(listen, tokenFile, List.of(), null);
        }

        private Admin besides(Path dataDir) {
            return tokenFile == null ? new Admin(listen, dataDir.resolve(TOKEN), hosts, tls) : this;
        }

        /** The token's file. */
        Path file() {
            return tokenFile == null ? Path.of(TOKEN) : tokenFile;
        }
    }

    /**
     * The admin listener's certificate.
     *
     * @param certificate PEM chain, leaf first
     * @param key PEM private key
     */
    public record AdminTls(
            @Setting("PEM file of the admin listener's certificate chain, leaf first; read again when it changes") Path certificate,
            @Setting("PEM file of its private key") Path key) {
        CertificateFiles files() {
            return new CertificateFiles(certificate, key);
        }
    }
}
