package dev.culvert.server;

import dev.culvert.edge.Cidr;
import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.config.HostPort;
import dev.culvert.edge.config.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The tunnel server's configuration: {@code server.yaml}, its variables and flags. Paths are used as they are; the
 * binder has already resolved relative ones against the file's folder.
 *
 * @param edge the listener for callers
 * @param tunnel the listener for tunnel clients
 * @param admin the listener for operators
 * @param dataDir where the runtimes are stored
 * @param store how the database there is opened
 */
public record ServerConfig(
        Edge edge,
        Tunnel tunnel,
        Admin admin,
        @Setting(value = "Folder of the server's database; made when absent", byDefault = "/var/lib/culvert") Path dataDir,
        Store store) {

    /** A runtime's label of 63, a dot and this must fit a DNS name of 253. */
    private static final int MAX_DOMAIN = 189;
    private static final Pattern DOMAIN = Pattern
            .compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*");

    /**
     * The edge: where callers come in.
     *
     * @param listen address of the HTTPS listener
     * @param domain runtime hosts are {@code <account>-<runtime>.<domain>}; kept in lower case
     * @param tls certificate for the domain and {@code *.domain}, with its key
     * @param limits what a caller may use
     * @param trustedProxies networks whose forwarding fields are believed
     * @param serverTiming whether responses tell the time spent per hop; no effect yet
     */
    public record Edge(
            @Setting(value = "Address of the HTTPS listener for callers; port 0 picks a free one", byDefault = "0.0.0.0:8443") HostPort listen,
            @Setting(value = "Domain below which runtimes get their hosts", accepts = "a DNS name of at most 189 characters, as tunnels.example.com") String domain,
            Tls tls,
            CallerLimits limits,
            @Setting(value = "Networks whose X-Forwarded-* and Forwarded fields are believed", accepts = "addresses or CIDR blocks, as 10.0.0.0/8,::1", byDefault = "") List<String> trustedProxies,
            @Setting(value = "Whether responses carry Server-Timing with the time per hop; off, because it tells callers about the inside. No effect yet", byDefault = "false") boolean serverTiming) {
        public Edge {
            domain = domain.toLowerCase(Locale.ROOT);
            if (domain.length() > MAX_DOMAIN || !DOMAIN.matcher(domain).matches()) {
                throw new ConfigException("domain", "a DNS name of at most " + MAX_DOMAIN
                        + " characters without a trailing dot, as tunnels.example.com");
            }
            trustedProxies = List.copyOf(trustedProxies);
            trustedProxies.forEach(Edge::requireBlock);
        }

        private static void requireBlock(String block) {
            try {
                Cidr.parse(block);
            } catch (IllegalArgumentException e) {
                throw new ConfigException("trustedProxies", "addresses or CIDR blocks, as 10.0.0.0/8,::1");
            }
        }
    }

    /**
     * The tunnel listener.
     *
     * @param listen address of the WSS listener
     * @param tls certificate for the names clients dial, with its key
     * @param ca the authority that issues and verifies clients' certificates
     * @param requireMutualTls whether clients whose TLS is ended on the way are refused
     */
    public record Tunnel(
            @Setting(value = "Address of the WSS listener for tunnel clients; port 0 picks a free one", byDefault = "0.0.0.0:7443") HostPort listen,
            Tls tls,
            Ca ca,
            @Setting(value = "Whether clients must show their certificate by TLS; else one whose TLS is ended on the way may prove it in the first frames", byDefault = "false") boolean requireMutualTls) {}

    /**
     * The admin listener: plain HTTP with a bearer token.
     *
     * @param listen address; loopback by default, because the token crosses it in the clear
     * @param tokenFile holds the bearer token; read again when it changes
     */
    public record Admin(
            @Setting(value = "Address of the admin API, web page and metrics; loopback because it is plain HTTP", byDefault = "127.0.0.1:9090") HostPort listen,
            @Setting(value = "File of the admin API's bearer token; made with mode 0600 when absent", byDefault = "admin.token") Path tokenFile) {}

    /**
     * A listener's certificate.
     *
     * @param certificate PEM chain, leaf first
     * @param key PEM private key
     */
    public record Tls(
            @Setting("PEM file of the listener's certificate chain, leaf first") Path certificate,
            @Setting("PEM file of its private key") Path key) {}

    /**
     * The authority for client certificates.
     *
     * @param certificate PEM certificate
     * @param key PEM private key
     * @param clientLife how long the certificates of clients live
     */
    public record Ca(
            @Setting("PEM file of the authority's certificate, from culvert certs init") Path certificate,
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
