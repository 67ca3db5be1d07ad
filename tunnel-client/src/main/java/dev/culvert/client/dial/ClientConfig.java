package dev.culvert.client.dial;

import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.config.UriHost;
import dev.culvert.relay.tls.TlsConfig;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.SingleUpstream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The tunnel client's configuration: {@code client.yaml}, its variables and flags. Streams go to {@code to}
 * or {@code routerUrl}; without either, through a router in this process.
 *
 * @param server the addresses of one server, tried in order; the default path is {@code /tunnel/v1}
 * @param serverCa the authorities of servers, which replace all other trust except {@code extraCa}; null: the
 *     token's pin, the enrolled authority, public authorities
 * @param extraCa additionally trusted authorities, for example of a proxy that inspects TLS; null: none
 * @param proxy the outbound proxy; null: that of the environment, if any
 * @param enrolmentTokenFile the file of the token; null: there is an identity already
 * @param identityDir the folder of the identity, created if absent
 * @param identitySecret the Kubernetes secret that keeps the identity; null: the folder alone
 * @param health the client's listener for operators
 * @param to the only upstream, without a router; null: see above
 * @param routerUrl the URL of a router in its own pod; null: see above
 * @param router routes and policy of the router in this process; null: the default routes, every webhook
 *     refused
 * @param connections the number of connections of the tunnel, 1..4
 * @param conflictRetry the minimum time, 1 s..10 min, after which a client checks again whether the instance
 *     that owns its runtime has gone; the maximum is twice that
 * @param sessionLife the time, 1 s..24 h, give or take a tenth, after which another session replaces one;
 *     streams of the replaced one go on. Sessions that live seconds are for tests
 * @param accessLog whether each forwarded request is a line of the logger {@code access}
 * @param tls what holds for TLS with the server
 * @param standby what this client does while another one serves its runtime
 * @param hostHeader the Host that the upstream of {@code to} sees, or {@code rewrite}; null: the caller's
 * @param upstreamCa the authorities of the upstream of {@code to}; null: the system's
 * @param insecureUpstream whether the certificate of {@code to} is not verified
 */
public record ClientConfig(
        @Setting(value = "Addresses of the tunnel server; several are of the same server, tried in order", accepts = "wss://host:port, or a list of them") List<URI> server,
        @Setting("PEM file of the authorities that sign the server's certificate; not needed when the token pins it or a public authority signed") @Nullable Path serverCa,
        @Setting("PEM file of authorities that are trusted in addition to serverCa, pin and public ones: that of a proxy that inspects TLS") @Nullable Path extraCa,
        @Nullable ProxyConfig proxy,
        @Setting("File of the enrolment token, used once; a usable identity takes precedence") @Nullable Path enrolmentTokenFile,
        @Setting(value = "Folder of client.key (0600), client.crt and ca.crt; created if absent", byDefault = "/var/lib/culvert-client") Path identityDir,
        @Nullable IdentitySecretName identitySecret,
        Health health,
        @Setting(value = "One upstream for all requests, without a router", accepts = "http://host:port, https://host:port or h2c://host:port") @Nullable URI to,
        @Setting(value = "A request router in its own pod, for all requests", accepts = "http://host:port, https://host:port or h2c://host:port") @Nullable URI routerUrl,
        @Nullable RoutingConfig router,
        @Setting(value = "Connections of the tunnel; 2, so that one can be replaced without a gap", byDefault = "2", accepts = "1..4") int connections,
        @Setting(value = "Another instance has the runtime: look again after this to twice this, without taking over", byDefault = "30s", accepts = "1s..10m") Duration conflictRetry,
        @Setting(value = "How long a connection takes new streams, give or take a tenth, before another replaces it; its own streams go on, as docs/operations.md says. Below a minute only for tests", byDefault = "2h", accepts = "1s..24h") Duration sessionLife,
        @Setting(value = "Whether each forwarded request is a line of the log, by the logger access; the server has a log of its own", byDefault = "false") boolean accessLog,
        TlsConfig tls, Standby standby,
        @Setting(value = "Host that the upstream of to sees, instead of the caller's; origins, redirects and cookies are exchanged with it", accepts = "rewrite (that of to), or a host as app.internal:3000") @Nullable String hostHeader,
        @Setting("PEM file of the authorities that sign the certificate of to; left out: the system's") @Nullable Path upstreamCa,
        @Setting(value = "Whether any certificate of to is accepted: whoever is between the two can read and change what is sent", byDefault = "false") boolean insecureUpstream) {

    /** The tunnel's path if an address has none. */
    private static final String TUNNEL_PATH = "/tunnel/v1";
    /** More addresses than any deployment has, and few enough to try all. */
    private static final int MAX_SERVERS = 16;
    private static final int MAX_CONNECTIONS = 4;
    /** The contract's 30 to 60 s. */
    private static final Duration CONFLICT_RETRY = Duration.ofSeconds(30);
    private static final Duration SHORTEST_RETRY = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETRY = Duration.ofMinutes(10);
    /** The contract's 2 h: new addresses and a new balance among servers are found within the day. */
    private static final Duration SESSION_LIFE = Duration.ofHours(2);
    private static final Duration SHORTEST_SESSION = Duration.ofSeconds(1);
    private static final Duration LONGEST_SESSION = Duration.ofHours(24);

    public ClientConfig {
        if (server.isEmpty() || server.size() > MAX_SERVERS) {
            throw new ConfigException("server",
                    "1 to " + MAX_SERVERS + " addresses, as wss://tunnels.example.com:7443");
        }
        server = server.stream().map(ClientConfig::tunnelAddress).toList();
        checkUpstream("to", to);
        checkUpstream("routerUrl", routerUrl);
        RouteConfig.checkHostHeader(hostHeader);
        if (to == null && (hostHeader != null || upstreamCa != null || insecureUpstream)) {
            throw new ConfigException(
                    hostHeader != null
                            ? "hostHeader"
                            : upstreamCa != null ? "upstreamCa" : "insecureUpstream",
                    "none without to; routes have hostHeader and tls of their own");
        }
        if (insecureUpstream && upstreamCa != null) {
            throw new ConfigException("insecureUpstream", "only one of insecureUpstream and upstreamCa");
        }
        if ((insecureUpstream || upstreamCa != null) && to != null && !"https".equals(to.getScheme())) {
            throw new ConfigException(upstreamCa != null ? "upstreamCa" : "insecureUpstream",
                    "none where to is no https:// URL");
        }
        if ((to != null && routerUrl != null) || (router != null && (to != null || routerUrl != null))) {
            throw new ConfigException("to",
                    "only one of to, router and routerUrl; none for the default routes");
        }
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw new ConfigException("connections",
                    "1.." + MAX_CONNECTIONS + "; remove the key for the default 2");
        }
        if (conflictRetry.compareTo(SHORTEST_RETRY) < 0 || conflictRetry.compareTo(LONGEST_RETRY) > 0) {
            throw new ConfigException("conflictRetry", "1s..10m; remove the key for the default 30s");
        }
        if (sessionLife.compareTo(SHORTEST_SESSION) < 0 || sessionLife.compareTo(LONGEST_SESSION) > 0) {
            throw new ConfigException("sessionLife", "1s..24h; remove the key for the default 2h");
        }
    }

    /** A configuration that prefers the post-quantum key exchange. */
    public ClientConfig(List<URI> server, @Nullable Path serverCa, @Nullable Path extraCa,
            @Nullable ProxyConfig proxy, @Nullable Path enrolmentTokenFile, Path identityDir, Health health,
            @Nullable URI to, @Nullable URI routerUrl, @Nullable RoutingConfig router, int connections,
            Duration conflictRetry, Duration sessionLife) {
        this(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir, null, health, to, routerUrl,
                router, connections, conflictRetry, sessionLife, false, TlsConfig.usual(), Standby.usual(),
                null, null, false);
    }

    /** Returns a copy with other rules of TLS. */
    public ClientConfig with(TlsConfig rules) {
        return new ClientConfig(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir,
                identitySecret, health, to, routerUrl, router, connections, conflictRetry, sessionLife,
                accessLog, rules,
                standby, hostHeader, upstreamCa, insecureUpstream);
    }

    /** Returns a copy that waits, or takes over, in another way. */
    public ClientConfig with(Standby other) {
        return new ClientConfig(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir,
                identitySecret, health, to, routerUrl, router, connections, conflictRetry, sessionLife,
                accessLog, tls,
                other, hostHeader, upstreamCa, insecureUpstream);
    }

    /** Returns a copy that logs each request, or does not. */
    public ClientConfig withAccessLog(boolean logged) {
        return new ClientConfig(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir,
                identitySecret, health, to, routerUrl, router, connections, conflictRetry, sessionLife,
                logged,
                tls, standby, hostHeader, upstreamCa, insecureUpstream);
    }

    /** Returns a copy with another listener for operators. */
    public ClientConfig with(Health other) {
        return new ClientConfig(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir,
                identitySecret, other, to, routerUrl, router, connections, conflictRetry, sessionLife,
                accessLog, tls,
                standby, hostHeader, upstreamCa, insecureUpstream);
    }

    /** Returns a copy whose upstream of {@code to} is spoken to in another manner. */
    public ClientConfig towards(SingleUpstream.Manner manner) {
        return new ClientConfig(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir,
                identitySecret, health, to, routerUrl, router, connections, conflictRetry, sessionLife,
                accessLog, tls, standby, manner.hostHeader(), manner.ca(), manner.insecure());
    }

    /** How the upstream of {@code to} is spoken to. */
    public SingleUpstream.Manner manner() {
        return new SingleUpstream.Manner(hostHeader, upstreamCa, insecureUpstream);
    }

    /** Returns a copy whose identity is kept by a Kubernetes secret. */
    public ClientConfig with(IdentitySecretName secret) {
        return new ClientConfig(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir, secret,
                health, to, routerUrl, router, connections, conflictRetry, sessionLife, accessLog, tls,
                standby, hostHeader, upstreamCa, insecureUpstream);
    }

    /** A configuration with the default {@code conflictRetry} and {@code sessionLife}. */
    public ClientConfig(List<URI> server, @Nullable Path serverCa, @Nullable Path extraCa,
            @Nullable ProxyConfig proxy, @Nullable Path enrolmentTokenFile, Path identityDir, Health health,
            @Nullable URI to, @Nullable URI routerUrl, @Nullable RoutingConfig router, int connections) {
        this(server, serverCa, extraCa, proxy, enrolmentTokenFile, identityDir, health, to, routerUrl, router,
                connections, CONFLICT_RETRY, SESSION_LIFE);
    }

    /** A configuration without extra authorities and proxy. */
    public ClientConfig(List<URI> server, @Nullable Path serverCa, @Nullable Path enrolmentTokenFile,
            Path identityDir, Health health, @Nullable URI to, @Nullable URI routerUrl,
            @Nullable RoutingConfig router, int connections) {
        this(server, serverCa, null, null, enrolmentTokenFile, identityDir, health, to, routerUrl, router,
                connections);
    }

    /**
     * A Kubernetes secret that keeps the identity for all replicas of a client.
     *
     * @param name its name
     * @param namespace its namespace; null: that of the pod
     */
    public record IdentitySecretName(
            @Setting(value = "Kubernetes secret that keeps the identity, for all replicas of this client: identityDir is a copy of it, which may be lost", accepts = "the name of a secret") String name,
            @Setting(value = "Its namespace; left out: the pod's own", accepts = "a namespace") @Nullable String namespace) {
        private static final Pattern DNS_NAME = Pattern.compile("[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?");

        public IdentitySecretName {
            if (!DNS_NAME.matcher(name).matches()) {
                throw new ConfigException("name", "a name of lower-case letters, digits, '-' and '.'");
            }
            if (namespace != null && !DNS_NAME.matcher(namespace).matches()) {
                throw new ConfigException("namespace", "a name of lower-case letters, digits and '-'");
            }
        }
    }

    /**
     * The client's listener for health, metrics and status.
     *
     * @param listen its address
     */
    public record Health(
            @Setting(value = "Address of /healthz, /readyz, /metrics and /status, of pause and resume; loopback because it is plain HTTP", byDefault = "127.0.0.1:8081") HostPort listen) {}

    private static URI tunnelAddress(URI address) {
        if (!"wss".equals(address.getScheme()) || address.getHost() == null || !plain(address)) {
            throw new ConfigException("server",
                    "wss://host:port, port 1 to 65535, without user, query and fragment");
        }
        String path = address.getRawPath();
        return path == null || path.isEmpty() || path.equals("/") ? address.resolve(TUNNEL_PATH) : address;
    }

    private static void checkUpstream(String key, @Nullable URI upstream) {
        if (upstream != null
                && (!Set.of("http", "https", "h2c").contains(upstream.getScheme()) || !plain(upstream)
                        || !(upstream.getRawPath().isEmpty() || upstream.getRawPath().equals("/")))) {
            throw new ConfigException(key,
                    "http://host:port, https://host:port or h2c://host:port, port 1 to 65535, without a path: requests keep theirs"
                            + UriHost.fault(upstream.toString()));
        }
    }

    private static boolean plain(URI uri) {
        UriHost host = UriHost.of(uri);
        return host != null && uri.getRawUserInfo() == null && uri.getRawQuery() == null
                && uri.getRawFragment() == null && host.port() != 0 && host.port() <= 65535;
    }
}
