package dev.culvert.server;

import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.CurrentContext;
import dev.culvert.certs.tls.ListenerTls;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.listen.PlainPeers;
import dev.culvert.relay.listen.ProxySenders;
import dev.culvert.relay.tls.PostQuantum;
import dev.culvert.relay.tls.TlsLink;
import io.micrometer.core.instrument.Gauge;
import io.netty.handler.ssl.SslContext;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The configured TLS and PROXY protocol steps at the start of edge and tunnel connections.
 *
 * @param edge the entrance of the edge's listener, which may also be the tunnel's
 * @param tunnel the entrance of the tunnel's own listener
 * @param tunnelHosts accepts the tunnel's hosts where edge and tunnel share a listener
 * @param provenTo accepts the server names to which clients may prove a certificate that TLS did not carry:
 *        the domain, the names in the tunnel's certificate, and {@code tunnel.hosts}
 * @param certificates the certificates by listener; a plain listener has none
 * @param asking the edge's certificates once more, with contexts that request client certificates
 * @param links the edge's and the tunnel's TLS
 */
record ListenerSecurity(Entrance edge, Entrance tunnel, Predicate<String> tunnelHosts,
        Predicate<String> provenTo,
        Map<String, ListenerTls> certificates, @Nullable ListenerTls asking, List<TlsLink> links) {
    private static final Logger log = LoggerFactory.getLogger(ListenerSecurity.class);

    /** The wait for a PROXY header. A balancer sends it at once; the wait allows for one lost packet. */
    private static final Duration PROXY_HEADER_TIME = Duration.ofSeconds(5);
    /** The protocols offered by ALPN, preferred first. */
    private static final List<String> EDGE_PROTOCOLS = List.of("h2", "http/1.1");
    /** A tunnel is a WebSocket over HTTP/1.1. */
    private static final List<String> TUNNEL_PROTOCOLS = List.of("http/1.1");

    /** Reads the certificates. Blocks. */
    static ListenerSecurity load(ServerConfig config, List<X509Certificate> clientAuthorities,
            ClientCertRequests certRequests,
            Clock clock) {
        PostQuantum postQuantum = config.tls().postQuantum();
        warnOfPlain(config);
        TlsLink edgeLink = TlsLink.of("edge", "tls.postQuantum", postQuantum);
        TlsLink tunnelLink = TlsLink.of("tunnel", "tls.postQuantum", postQuantum);
        ListenerTls edgeTls = edgeTls(config.edge(), material -> edgeLink.context(
                hybridOnly -> TlsContexts.edge(material, EDGE_PROTOCOLS, hybridOnly)), clock);
        // Session tickets are separate, too: a session begun without a certificate can't be resumed where one
        // is required.
        ListenerTls askingTls = edgeTls(config.edge(),
                material -> edgeLink.context(
                        hybridOnly -> TlsContexts.edgeAsking(material, EDGE_PROTOCOLS, hybridOnly)),
                clock);
        ListenerTls tunnelTls = tunnelTls(config.tunnel(), clientAuthorities, tunnelLink, clock);
        String domain = config.edge().domain();
        List<String> hosts = config.tunnel().hosts();
        Predicate<String> tunnelHosts = host -> host.equals(domain) || hosts.contains(host)
                || (tunnelTls != null && tunnelTls.isFor(host));
        Map<String, ListenerTls> certificates = new LinkedHashMap<>();
        put(certificates, "edge", edgeTls);
        put(certificates, "tunnel", tunnelTls);
        put(certificates, "admin", adminTls(config.admin(), clock));
        PlainPeers edgePeers = peers("edge", config.edge().trustedProxies());
        PlainPeers tunnelPeers = peers("tunnel", config.tunnel().trustedProxies());
        Entrance edge = entrance(edgeTls, edgePeers);
        if (edgeTls != null && askingTls != null) {
            edge = new Entrance.Secure(
                    name -> certRequests.of(name) ? askingTls.context(name) : edgeTls.context(name),
                    () -> !edgeTls.single() || certRequests.any());
        }
        Entrance tunnel = entrance(tunnelTls, tunnelPeers);
        if (config.shared() && edgeTls != null && tunnelTls != null) {
            // Only handshakes for the tunnel's hosts request a certificate: browsers would prompt their users
            // for one.
            Entrance.Contexts ofCallers = ((Entrance.Secure) edge).contexts();
            edge = new Entrance.Secure(name -> name != null && tunnelHosts.test(name)
                    ? tunnelTls.context(name)
                    : ofCallers.of(name), () -> true);
        }
        return new ListenerSecurity(announced(edge, config.edge().proxyProtocol(), edgePeers),
                announced(tunnel, config.tunnel().proxyProtocol(), tunnelPeers), tunnelHosts,
                host -> tunnelHosts.test(host) || (tunnelTls != null && tunnelTls.covers(host)),
                certificates,
                askingTls, List.of(edgeLink, tunnelLink));
    }

    /** A requirement does not reach beyond a balancer that ends TLS. */
    private static void warnOfPlain(ServerConfig config) {
        if (config.tls().postQuantum() == PostQuantum.REQUIRE
                && (config.edge().plain() || config.tunnel().plain())) {
            log.atWarn()
                    .addKeyValue("listener", config.edge().plain() ? "edge" : "tunnel")
                    .log("tls.postQuantum: require holds for no plain listener: there the balancer ends TLS, and must require it");
        }
    }

    private static PlainPeers peers(String listener, List<String> trustedProxies) {
        return new PlainPeers(listener, trustedProxies.stream().map(Cidr::parse).toList());
    }

    private static Entrance announced(Entrance entrance, boolean proxyProtocol, PlainPeers peers) {
        return proxyProtocol
                ? new Entrance.Announced(new ProxySenders(peers, PROXY_HEADER_TIME), entrance)
                : entrance;
    }

    private static @Nullable ListenerTls edgeTls(ServerConfig.Edge edge,
            Function<TlsMaterial, SslContext> contexts, Clock clock) {
        if (edge.tls() == null) {
            return null;
        }
        List<CertificateFiles> files = new ArrayList<>();
        files.add(edge.tls().files());
        edge.certificates().forEach(more -> files.add(more.files()));
        return ListenerTls.load("edge", files, contexts, clock);
    }

    private static @Nullable ListenerTls tunnelTls(ServerConfig.Tunnel tunnel,
            List<X509Certificate> clientAuthorities, TlsLink link, Clock clock) {
        if (tunnel.tls() == null) {
            return null;
        }
        Function<TlsMaterial, SslContext> contexts = material -> link.context(hybridOnly -> tunnel
                .allowTls12()
                        ? TlsContexts.tunnelWithTls12(material, clientAuthorities, TUNNEL_PROTOCOLS)
                        : TlsContexts.tunnel(material, clientAuthorities, TUNNEL_PROTOCOLS, hybridOnly));
        return ListenerTls.load("tunnel", List.of(tunnel.tls().files()), contexts, clock);
    }

    /** The key exchange is the best that the browser has, and not required: operators' browsers differ. */
    private static @Nullable ListenerTls adminTls(ServerConfig.Admin admin, Clock clock) {
        return admin.tls() == null
                ? null
                : ListenerTls.load("admin", List.of(admin.tls().files()),
                        material -> TlsContexts.edge(material, TUNNEL_PROTOCOLS), clock);
    }

    /** The TLS of the admin listener, with the certificate that is in its files now; null: plain HTTP. */
    @Nullable
    SslContext admin() {
        ListenerTls tls = certificates.get("admin");
        return tls == null ? null : new CurrentContext(() -> tls.context(null));
    }

    private static Entrance entrance(@Nullable ListenerTls tls, PlainPeers peers) {
        return tls == null
                ? new Entrance.Plain(peers)
                : new Entrance.Secure(tls::context, () -> !tls.single());
    }

    private static void put(Map<String, ListenerTls> all, String listener, @Nullable ListenerTls tls) {
        if (tls != null) {
            all.put(listener, tls);
        }
    }

    /**
     * {@code culvert_certificate_not_after_seconds{listener}}, {@code culvert_tls_handshakes_total{link}},
     * {@code culvert_tls_refused_total{link}}.
     */
    void measure(Telemetry telemetry) {
        links.forEach(link -> link.shown(telemetry));
        certificates.forEach((listener, tls) -> Gauge
                .builder("culvert.certificate.not.after", tls, all -> all.notAfter().getEpochSecond())
                .baseUnit("seconds")
                .tag("listener", listener)
                .strongReference(true)
                .register(telemetry.registry()));
    }

    /** Every set of certificates whose files are watched. */
    List<ListenerTls> watched() {
        List<ListenerTls> all = new ArrayList<>(certificates.values());
        if (asking != null) {
            all.add(asking);
        }
        return all;
    }
}
