package dev.culvert.server;

import dev.culvert.certs.CertificateFiles;
import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.http.fields.HostName;
import dev.culvert.http.net.Cidr;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsConfig;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.runtime.RuntimeName;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The tunnel server's configuration: {@code server.yaml}, its variables and flags. Paths are used as they
 * are; the binder has already resolved relative ones against the file's folder.
 *
 * @param edge the listener for callers
 * @param tcp the listener for raw connections; null: none
 * @param tunnel the listener for tunnel clients
 * @param admin the listener for operators
 * @param dataDir where the runtimes are stored
 * @param store how the database there is opened
 * @param inbox what webhooks may use, before they are delivered
 * @param tls what holds for TLS of both listeners
 */
public record ServerConfig(
        Edge edge,
        @Nullable Tcp tcp,
        Tunnel tunnel,
        Admin admin,
        @Setting(value = "Folder of the server's database; made when absent", byDefault = "/var/lib/culvert") Path dataDir,
        Store store,
        InboxConfig inbox,
        TlsConfig tls) {

    /**
     * The maximum length of the domain: a runtime's label of 63 characters, a dot and the domain fit into a
     * DNS name of 253.
     */
    private static final int MAX_DOMAIN = 189;
    private static final int MAX_PORT = 65_535;
    private static final Pattern DOMAIN = Pattern
            .compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*");

    public ServerConfig {
        if (shared(edge, tunnel) && (edge.plain() != tunnel.plain()
                || edge.proxyProtocol() != tunnel.proxyProtocol()
                || (edge.plain() || edge.proxyProtocol())
                        && !Set.copyOf(edge.trustedProxies()).equals(Set.copyOf(tunnel.trustedProxies())))) {
            throw new ConfigException("tunnel.plain",
                    "plain, proxyProtocol and trustedProxies as those of edge, because both listen on "
                            + edge.listen());
        }
        Platform platform = edge.platform();
        if (platform != null && tunnel.hosts().contains(platform.host())) {
            throw new ConfigException("edge.platform.host",
                    "a host that is not in tunnel.hosts, where clients look for the tunnel");
        }
        if (tunnel.allowTls12() && tls.postQuantum() == PostQuantum.REQUIRE) {
            throw new ConfigException("tunnel.allowTls12",
                    "false where tls.postQuantum: require, because TLS 1.2 has no post-quantum key exchange");
        }
    }

    /** Makes a configuration without raw connections and with the default inbox. */
    public ServerConfig(Edge edge, Tunnel tunnel, Admin admin, Path dataDir, Store store) {
        this(edge, null, tunnel, admin, dataDir, store, InboxConfig.defaults());
    }

    /** Makes a configuration that prefers the post-quantum key exchange. */
    public ServerConfig(Edge edge, @Nullable Tcp tcp, Tunnel tunnel, Admin admin, Path dataDir, Store store,
            InboxConfig inbox) {
        this(edge, tcp, tunnel, admin, dataDir, store, inbox, TlsConfig.usual());
    }

    /** Returns a copy with other rules of TLS. */
    public ServerConfig with(TlsConfig rules) {
        return new ServerConfig(edge, tcp, tunnel, admin, dataDir, store, inbox, rules);
    }

    /** Returns a copy with another listener for raw connections. */
    public ServerConfig with(@Nullable Tcp raw) {
        return new ServerConfig(edge, raw, tunnel, admin, dataDir, store, inbox, tls);
    }

    /** Whether callers and tunnel clients share one listener, because both addresses are the same. */
    boolean shared() {
        return shared(edge, tunnel);
    }

    private static boolean shared(Edge edge, Tunnel tunnel) {
        return edge.listen().port() != 0 && edge.listen().equals(tunnel.listen());
    }

    /**
     * The edge: the listener for callers.
     *
     * @param listen address of the HTTPS listener
     * @param domain runtime hosts are {@code <account>-<runtime>.<domain>}; kept in lower case
     * @param tls certificate for the domain and {@code *.domain}, with its key; null exactly when plain
     * @param certificates further certificates, for custom hosts
     * @param plain whether it speaks HTTP without TLS, to trusted proxies only
     * @param limits the limits of each caller
     * @param trustedProxies networks whose forwarding fields are believed
     * @param proxyProtocol whether connections begin with a PROXY protocol header, from trusted proxies only
     * @param serverTiming whether responses carry the time spent per hop in {@code Server-Timing}
     * @param accessLog whether the logger {@code access} writes a line for each request
     * @param access the access policy of runtimes without access rules
     * @param platform the host that leads to the platform's service; null: none
     * @param publicPort the port of the public URLs; 0: that of {@code listen}, or 443 where {@code plain}
     */
    public record Edge(
            @Setting(value = "Address of the HTTPS listener for callers; port 0 picks a free one", byDefault = "0.0.0.0:8443") HostPort listen,
            @Setting(value = "Domain below which runtimes get their hosts", accepts = "a DNS name of at most 189 characters, as tunnels.example.com") String domain,
            @Nullable Tls tls,
            @Setting(value = "Further certificates, for custom hosts: chosen by the name that a caller asks for by SNI, exact names first", fileOnly = true) List<Tls> certificates,
            @Setting(value = "Whether the listener speaks HTTP without TLS, for a balancer that has ended TLS; then only trustedProxies may connect", byDefault = "false") boolean plain,
            CallerLimits limits,
            @Setting(value = "Networks whose X-Forwarded-* and Forwarded fields are believed", accepts = "addresses or CIDR blocks, as 10.0.0.0/8,::1", byDefault = "") List<String> trustedProxies,
            @Setting(value = "Whether connections begin with a PROXY protocol header (version 1 or 2), which contains the caller's address; then only trustedProxies may connect", byDefault = "false") boolean proxyProtocol,
            @Setting(value = "Whether responses carry Server-Timing with the time per hop; off, because it reveals internals to callers", byDefault = "false") boolean serverTiming,
            @Setting(value = "Whether each request is a line of the log, by the logger access", byDefault = "true") boolean accessLog,
            Access access,
            @Nullable Platform platform,
            @Setting(value = "Port of the public URLs that clients get, where something in front of the edge has another than listen; 0 for that of listen, or for 443 where plain", byDefault = "0", accepts = "0..65535") int publicPort) {
        public Edge {
            if (publicPort < 0 || publicPort > MAX_PORT) {
                throw new ConfigException("publicPort", "1..65535, or 0 for the port of edge.listen");
            }
            domain = domain.toLowerCase(Locale.ROOT);
            if (domain.length() > MAX_DOMAIN || !DOMAIN.matcher(domain).matches()) {
                throw new ConfigException("domain", "a DNS name of at most " + MAX_DOMAIN
                        + " characters without a trailing dot, as tunnels.example.com");
            }
            certificates = List.copyOf(certificates);
            trustedProxies = List.copyOf(trustedProxies);
            requireBlocks(trustedProxies);
            requireOneOf(tls, plain, trustedProxies);
            requireSenders(proxyProtocol, trustedProxies);
            if (plain && !certificates.isEmpty()) {
                throw new ConfigException("certificates", "none where plain: true says that TLS ends before");
            }
            if (platform != null) {
                requireNoRuntimes(platform.host(), domain);
            }
        }

        /** Makes an edge whose runtimes are open unless they have access rules. */
        public Edge(HostPort listen, String domain, @Nullable Tls tls, List<Tls> certificates, boolean plain,
                CallerLimits limits, List<String> trustedProxies, boolean proxyProtocol, boolean serverTiming,
                boolean accessLog) {
            this(listen, domain, tls, certificates, plain, limits, trustedProxies, proxyProtocol,
                    serverTiming,
                    accessLog,
                    new Access(AccessDefault.OPEN, null), null);
        }

        /** Makes an edge without a host for the platform. */
        public Edge(HostPort listen, String domain, @Nullable Tls tls, List<Tls> certificates, boolean plain,
                CallerLimits limits, List<String> trustedProxies, boolean proxyProtocol, boolean serverTiming,
                boolean accessLog, Access access) {
            this(listen, domain, tls, certificates, plain, limits, trustedProxies, proxyProtocol,
                    serverTiming, accessLog, access, null);
        }

        /** Makes an edge whose public URLs have the port of its listener. */
        public Edge(HostPort listen, String domain, @Nullable Tls tls, List<Tls> certificates, boolean plain,
                CallerLimits limits, List<String> trustedProxies, boolean proxyProtocol, boolean serverTiming,
                boolean accessLog, Access access, @Nullable Platform platform) {
            this(listen, domain, tls, certificates, plain, limits, trustedProxies, proxyProtocol,
                    serverTiming, accessLog, access, platform, 0);
        }

        /** Returns a copy with a host for the platform. */
        public Edge with(@Nullable Platform host) {
            return new Edge(listen, domain, tls, certificates, plain, limits, trustedProxies, proxyProtocol,
                    serverTiming, accessLog, access, host, publicPort);
        }
    }

    /**
     * The host that leads to the platform's own service, in place of a tunnel.
     *
     * @param host its name; kept in the compared form
     * @param to the service's URL
     * @param ca authorities that may sign the service's certificate; null: the public ones
     * @param access a file of access rules; null: the service decides about its callers
     * @param limits its limits
     */
    public record Platform(
            @Setting(value = "Host of the platform's service (the control plane), which leads there in place of a tunnel. Not the edge's domain, and none that a runtime has or may get below it: no <account>-<runtime>.<edge.domain>", accepts = "a DNS name without port, as platform.example.com") String host,
            @Setting(value = "URL of that service, as this server reaches it", accepts = UpstreamAddress.ACCEPTED) URI to,
            @Nullable @Setting("PEM file of the authorities that may sign the certificate of an https:// service. Left out: the public ones") Path ca,
            @Nullable @Setting("JSON file of access rules for this host, as culvert runtime access takes them. Left out: everybody may call it, whatever edge.access.default says, because the service knows its callers") Path access,
            PlatformLimits limits) {
        private static final int MAX_NAME = 253;

        public Platform {
            host = host.toLowerCase(Locale.ROOT);
            host = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
            if (host.length() > MAX_NAME || !DOMAIN.matcher(host).matches()) {
                throw new ConfigException("host", "a DNS name without port, as platform.example.com");
            }
            try {
                if (ca != null && !UpstreamAddress.of(to).tls()) {
                    throw new ConfigException("ca", "none where to has no https://");
                }
                UpstreamAddress.of(to);
            } catch (IllegalArgumentException e) {
                throw new ConfigException("to", UpstreamAddress.ACCEPTED);
            }
        }
    }

    /**
     * The limits of the platform's host, which are its own: those of runtimes do not hold for it.
     *
     * @param maxStreams the maximum concurrent exchanges; above: 503
     * @param requestsPerSecond the maximum rate; above: 429; 0: no limit
     * @param requestBurst the maximum requests at once after a pause; 0: as many as per second
     * @param maxBodyBytes the maximum bytes of a request body; above: 413; 0: no limit
     * @param bytesPerSecond the maximum rate of bodies, in each direction; excess bytes wait; 0: no limit
     */
    public record PlatformLimits(
            @Setting(value = "Concurrent streams of this host; more is answered 503", byDefault = "1000", accepts = "1..1000000") int maxStreams,
            @Setting(value = "Requests per second of this host; more is answered 429. 0: no limit", byDefault = "0", accepts = "0..1000000") int requestsPerSecond,
            @Setting(value = "Requests at once after a pause, where requestsPerSecond limits them. 0: as many as that", byDefault = "0", accepts = "0..1000000") int requestBurst,
            @Setting(value = "Bytes of a request body; more is answered 413. 0: no limit", byDefault = "0", accepts = "0..1048576GiB") ByteSize maxBodyBytes,
            @Setting(value = "Body bytes per second, in each direction; more wait. 0: no limit", byDefault = "0", accepts = "0, or 1KiB..1024GiB") ByteSize bytesPerSecond) {
        public PlatformLimits {
            require(RuntimeLimit.MAX_STREAMS, maxStreams);
            require(RuntimeLimit.REQUESTS_PER_SECOND, requestsPerSecond);
            require(RuntimeLimit.REQUEST_BURST, requestBurst);
            require(RuntimeLimit.MAX_BODY_BYTES, maxBodyBytes.bytes());
            require(RuntimeLimit.BYTES_PER_SECOND, bytesPerSecond.bytes());
        }

        /** Returns the limits of a host that configures none. */
        public static PlatformLimits defaults() {
            return new PlatformLimits(1000, 0, 0, new ByteSize(0), new ByteSize(0));
        }

        /** All limits, so that none of the server's holds. */
        OwnLimits all() {
            return new OwnLimits(Map.of(RuntimeLimit.MAX_STREAMS, (long) maxStreams,
                    RuntimeLimit.REQUESTS_PER_SECOND, (long) requestsPerSecond, RuntimeLimit.REQUEST_BURST,
                    (long) requestBurst, RuntimeLimit.MAX_BODY_BYTES, maxBodyBytes.bytes(),
                    RuntimeLimit.BYTES_PER_SECOND, bytesPerSecond.bytes()));
        }

        private static void require(RuntimeLimit limit, long value) {
            if (!limit.takes(value)) {
                throw new ConfigException(limit.key(), limit.accepts());
            }
        }
    }

    /** Requires a host to be no runtime's, present or future: see {@link RuntimeName#label}. */
    private static void requireNoRuntimes(String host, String domain) {
        boolean below = host.endsWith("." + domain);
        String label = below ? host.substring(0, host.length() - domain.length() - 1) : "";
        if (host.equals(domain) || RuntimeName.isLabel(label)) {
            throw new ConfigException("platform.host",
                    "a host that is not the edge's domain and no runtime's,"
                            + " as <account>-<runtime>." + domain + " is one");
        }
    }

    /**
     * The access policy.
     *
     * @param withoutRules whether runtimes without access rules may be called
     * @param ca authorities of the services and issuers that rules name
     */
    public record Access(
            @Setting(value = "Whether a runtime without access rules may be called; deny, so that none is public by accident", key = "default", byDefault = "open") AccessDefault withoutRules,
            @Nullable @Setting("PEM file of authorities that are trusted beside the public ones when the server asks the services and fetches the keys that access rules name") Path ca) {}

    /**
     * The listener for raw connections. The server name of the TLS handshake selects the runtime; the bytes
     * are passed through. The edge's limits apply.
     *
     * @param listen its address
     */
    public record Tcp(
            @Setting("Address of the listener for raw connections, which the server name of their TLS handshake (SNI) leads to a runtime and there to an upstream that the cluster lists; port 0 picks a free one. Left out: none") HostPort listen) {}

    private static void requireBlocks(List<String> blocks) {
        try {
            blocks.forEach(Cidr::parse);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("trustedProxies", "addresses or CIDR blocks, as 10.0.0.0/8,::1");
        }
    }

    /**
     * Requires the senders of PROXY protocol headers to be listed, because they state the addresses of
     * callers.
     */
    private static void requireSenders(boolean proxyProtocol, List<String> trustedProxies) {
        if (proxyProtocol && trustedProxies.isEmpty()) {
            throw new ConfigException("trustedProxies",
                    "the addresses of the balancers, as 10.0.0.0/8, where proxyProtocol: true believes them");
        }
    }

    /** Requires either a certificate, or {@code plain: true} with the proxies that may connect. */
    private static void requireOneOf(@Nullable Tls tls, boolean plain, List<String> trustedProxies) {
        if (plain && tls != null) {
            throw new ConfigException("plain", "false where tls names a certificate: one or the other");
        } else if (plain && trustedProxies.isEmpty()) {
            throw new ConfigException("trustedProxies",
                    "the addresses of the balancers, as 10.0.0.0/8: a plain listener accepts no other peers");
        } else if (!plain && tls == null) {
            throw new ConfigException("tls",
                    "a certificate and its key; or plain: true and trustedProxies, behind a balancer that ends TLS");
        }
    }

    /**
     * The tunnel listener.
     *
     * @param listen address of the WSS listener
     * @param tls certificate for the names clients dial, with its key; null exactly when plain
     * @param allowTls12 whether TLS 1.2 is served beside 1.3
     * @param plain whether it speaks HTTP without TLS, to trusted proxies only
     * @param trustedProxies networks that may connect to a plain listener, and send PROXY protocol headers
     * @param proxyProtocol whether connections begin with a PROXY protocol header, from trusted proxies only
     * @param ca the authority that issues and verifies clients' certificates
     * @param requireMutualTls whether clients whose TLS is ended on the way are refused
     * @param hosts names and addresses that clients dial and that the listener's certificate does not
     *        contain; kept in lower case
     */
    public record Tunnel(
            @Setting(value = "Address of the WSS listener for tunnel clients, that of edge.listen to share one; port 0 picks a free one", byDefault = "0.0.0.0:7443") HostPort listen,
            @Nullable Tls tls,
            @Setting(value = "Whether TLS 1.2 is served, too: only for proxies on the way that end TLS and know no 1.3, as 1.2 shows the certificates of clients to the network", byDefault = "false") boolean allowTls12,
            @Setting(value = "Whether the listener speaks HTTP without TLS, for a balancer that has ended TLS; then only trustedProxies may connect, and clients prove their certificate in the first frames", byDefault = "false") boolean plain,
            @Setting(value = "Networks that may connect to a plain listener, or to one with proxyProtocol", accepts = "addresses or CIDR blocks, as 10.0.0.0/8,::1", byDefault = "") List<String> trustedProxies,
            @Setting(value = "Whether connections begin with a PROXY protocol header (version 1 or 2), which tells the client's address; then only trustedProxies may connect", byDefault = "false") boolean proxyProtocol,
            Ca ca,
            @Setting(value = "Whether clients must show their certificate by TLS; else one whose TLS is ended on the way may prove it in the first frames", byDefault = "false") boolean requireMutualTls,
            @Setting(value = "Names by which clients dial the tunnel, besides edge.domain and those of tunnel.tls: those of the balancer's certificate before a plain listener. A certificate that TLS did not bring is proven to these names only", accepts = "host names or addresses, as tunnel.example.com", byDefault = "") List<String> hosts) {
        /** Makes a listener without further names. */
        public Tunnel(HostPort listen, @Nullable Tls tls, boolean allowTls12, boolean plain,
                List<String> trustedProxies, boolean proxyProtocol, Ca ca, boolean requireMutualTls) {
            this(listen, tls, allowTls12, plain, trustedProxies, proxyProtocol, ca, requireMutualTls,
                    List.of());
        }

        public Tunnel {
            hosts = hosts.stream().map(HostName::of).toList();
            trustedProxies = List.copyOf(trustedProxies);
            requireBlocks(trustedProxies);
            requireOneOf(tls, plain, trustedProxies);
            requireSenders(proxyProtocol, trustedProxies);
            if (plain && requireMutualTls) {
                throw new ConfigException("requireMutualTls",
                        "false where plain: true says that TLS ends before: no certificate comes that far");
            }
        }
    }

    /**
     * The admin listener: the API with its bearer token, the web page, metrics.
     *
     * @param listen address; loopback by default, because the token crosses it in the clear
     * @param tokenFile holds the bearer token; read again when it changes
     * @param hosts names by which it is called, besides addresses and localhost
     * @param tls its certificate; null: plain HTTP
     */
    public record Admin(
            @Setting(value = "Address of the admin API, web page and metrics; loopback because it is plain HTTP without admin.tls", byDefault = "127.0.0.1:9090") HostPort listen,
            @Setting(value = "File of the admin API's bearer token; made with mode 0600 when absent", variable = "CULVERT_SERVER_ADMIN_TOKEN_FILE", byDefault = "admin.token") Path tokenFile,
            @Setting(value = "Names by which the admin listener is called, besides addresses and localhost; requests by another name are answered 421, because a stranger's name may lead there (DNS rebinding)", accepts = "host names, as admin.example.com", byDefault = "") List<String> hosts,
            @Nullable Tls tls) {
        public Admin {
            hosts = List.copyOf(hosts);
            try {
                AllowedHosts.of(hosts);
            } catch (IllegalArgumentException e) {
                throw new ConfigException("hosts", "DNS names without port, as admin.example.com");
            }
        }

        /** Makes a listener of plain HTTP without further names. */
        public Admin(HostPort listen, Path tokenFile) {
            this(listen, tokenFile, List.of(), null);
        }
    }

    /**
     * A listener's certificate.
     *
     * @param certificate PEM chain, leaf first
     * @param key PEM private key
     */
    public record Tls(
            @Setting("PEM file of the listener's certificate chain, leaf first") Path certificate,
            @Setting("PEM file of its private key") Path key) {
        CertificateFiles files() {
            return new CertificateFiles(certificate, key);
        }
    }

    /**
     * The authority for client certificates.
     *
     * @param certificate PEM certificate
     * @param key PEM private key
     * @param clientLife the lifetime of client certificates
     */
    public record Ca(
            @Setting("PEM file of the authority's certificate, from culvert certs init; others in it are trusted, too, while one authority follows another") Path certificate,
            @Setting("PEM file of its private key") Path key,
            @Setting(value = "How long certificates of clients live; they renew at two thirds of it", byDefault = "24h", accepts = "10s..90d") Duration clientLife) {
        private static final Duration SHORTEST = Duration.ofSeconds(10);
        private static final Duration LONGEST = Duration.ofDays(90);

        public Ca {
            if (clientLife.compareTo(SHORTEST) < 0 || clientLife.compareTo(LONGEST) > 0) {
                throw new ConfigException("clientLife", "10s..90d");
            }
        }
    }

    /**
     * The database in the data folder.
     *
     * @param waitForLease how long a start waits while another server holds the database
     */
    public record Store(
            @Setting(value = "How long a start waits while another server holds the database; longer than the 8 s after which a dead machine's hold ends", byDefault = "10s", accepts = "0s..10m") Duration waitForLease) {
        private static final Duration LONGEST = Duration.ofMinutes(10);

        public Store {
            if (waitForLease.isNegative() || waitForLease.compareTo(LONGEST) > 0) {
                throw new ConfigException("waitForLease", "0s..10m");
            }
        }
    }
}
