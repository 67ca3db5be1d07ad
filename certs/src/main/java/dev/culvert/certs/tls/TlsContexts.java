package dev.culvert.certs.tls;

import dev.culvert.certs.CallerCertificates;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates Netty's TLS contexts for listeners and clients: TLS 1.2 and 1.3 with forward-secret AEAD suites, by
 * BoringSSL if its native library is available, else by Java's engine. Create a context once and share it. A
 * client's handler must be created with host and port ({@code newHandler(alloc, host, port)}), else it trusts
 * no server. Sessions can be resumed. A resumed session has the certificate of the original handshake, so
 * verify it each time.
 */
public final class TlsContexts {
    private static final Logger LOG = LoggerFactory.getLogger(TlsContexts.class);
    private static final List<String> CIPHERS = List.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
            "TLS_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
            "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");

    static final List<String> TLS13 = List.of("TLSv1.3");
    static final List<String> VERSIONS = List.of("TLSv1.3", "TLSv1.2");

    /** X25519 with ML-KEM-768. BoringSSL offers it first by default; Java's engine lacks it. */
    static final String HYBRID = "X25519MLKEM768";

    /** Java's lists of distrusted and public authorities, which Java reads from files at their first use. */
    private static final List<String> LAZY_LISTS = List.of("sun.security.util.UntrustedCertificates",
            "sun.security.util.AnchorCertificates");

    static {
        // Loaded with the first context, so that the first handshake does not load them on an event loop.
        LAZY_LISTS.forEach(TlsContexts::load);
    }

    private TlsContexts() {}

    /** The engine in use, for logs: {@code BoringSSL …} or {@code JDK}. */
    public static String engine() {
        return OpenSsl.isAvailable() ? String.valueOf(OpenSsl.versionString()) : "JDK";
    }

    /**
     * Whether the engine in use has the post-quantum group X25519MLKEM768, which it then prefers wherever a
     * peer offers it.
     */
    public static boolean offersHybrid() {
        return Hybrid.OFFERED;
    }

    /** Tries the group once, when it is first asked for. */
    private static final class Hybrid {
        static final boolean OFFERED = isOffered(provider());

        private static boolean isOffered(SslProvider provider) {
            try {
                build(SslContextBuilder.forClient(), List.of(), new Offer(TLS13, true), provider);
                return true;
            } catch (CertsException e) {
                LOG.atDebug().addKeyValue("reason", e.getMessage()).log("no post-quantum key exchange");
                return false;
            }
        }
    }

    /**
     * What a context offers to its peers.
     *
     * @param versions the versions of TLS
     * @param hybridOnly whether the post-quantum group is the only one
     */
    record Offer(List<String> versions, boolean hybridOnly) {
        /** All groups. */
        static Offer of(List<String> versions) {
            return new Offer(versions, false);
        }

        /** All of the versions and groups, or only those with which the post-quantum group is negotiated. */
        static Offer of(List<String> versions, boolean hybridOnly) {
            return new Offer(hybridOnly ? TLS13 : versions, hybridOnly);
        }
    }

    /**
     * Creates the context of the edge listener.
     *
     * @param protocols the ALPN protocols, preferred first, for example {@code h2}, {@code http/1.1}; empty:
     *     no ALPN
     */
    public static SslContext edge(TlsMaterial material, List<String> protocols) {
        return edge(material, protocols, false);
    }

    /**
     * As above.
     *
     * @param hybridOnly whether peers without TLS 1.3 and X25519MLKEM768 are refused; throws CertsException
     *     unless {@link #offersHybrid}
     */
    public static SslContext edge(TlsMaterial material, List<String> protocols, boolean hybridOnly) {
        return edge(material, protocols, Offer.of(VERSIONS, hybridOnly), provider());
    }

    /**
     * Creates the context of an edge listener whose callers need certificates. Requests a certificate and
     * accepts any or none. {@link CallerCertificates} must verify it afterwards.
     *
     * @param protocols the ALPN protocols, preferred first; empty: no ALPN
     */
    public static SslContext edgeAsking(TlsMaterial material, List<String> protocols) {
        return edgeAsking(material, protocols, false);
    }

    /** As above, for peers with the post-quantum group only if {@code hybridOnly}. */
    public static SslContext edgeAsking(TlsMaterial material, List<String> protocols, boolean hybridOnly) {
        return tunnel(material, List.of(), protocols, Offer.of(VERSIONS, hybridOnly), provider());
    }

    /**
     * Creates the context of the tunnel listener. Requests a client certificate and accepts any or none.
     * {@link ClientCertificates#verify} must verify it afterwards. TLS 1.3 only, so that client certificates
     * are sent encrypted.
     *
     * @param clientAuthorities the authorities whose names are sent to clients, so that they can select a
     *     certificate
     * @param protocols the ALPN protocols, preferred first; empty: no ALPN
     */
    public static SslContext tunnel(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols) {
        return tunnel(material, clientAuthorities, protocols, false);
    }

    /** As above, for peers with the post-quantum group only if {@code hybridOnly}. */
    public static SslContext tunnel(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols, boolean hybridOnly) {
        return tunnel(material, clientAuthorities, protocols, Offer.of(TLS13, hybridOnly), provider());
    }

    /**
     * As {@link #tunnel}, but also accepts TLS 1.2, for TLS-terminating proxies that do not support TLS 1.3.
     */
    public static SslContext tunnelWithTls12(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols) {
        return tunnel(material, clientAuthorities, protocols, Offer.of(VERSIONS), provider());
    }

    /**
     * Creates the context of outgoing connections.
     *
     * @param trust the rules by which servers are trusted
     * @param identity the client certificate to send, or null
     * @param protocols the ALPN protocols, preferred first; empty: no ALPN
     */
    public static SslContext client(ServerTrust trust, @Nullable TlsMaterial identity,
            List<String> protocols) {
        return client(trust, identity, protocols, false);
    }

    /** As above, for servers with the post-quantum group only if {@code hybridOnly}. */
    public static SslContext client(ServerTrust trust, @Nullable TlsMaterial identity,
            List<String> protocols, boolean hybridOnly) {
        return client(trust, identity, protocols, Offer.of(VERSIONS, hybridOnly), provider());
    }

    /**
     * Creates the context of outgoing connections to a server whose certificate is not verified, because its
     * operator said so: anybody on the way can read and change what is sent.
     */
    public static SslContext unverified(List<String> protocols, boolean hybridOnly) {
        return build(SslContextBuilder.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null), protocols, Offer.of(VERSIONS, hybridOnly),
                provider());
    }

    /**
     * Creates the context of outgoing connections to servers of public authorities, or of those in a file.
     * Blocks on the file. Throws {@link dev.culvert.certs.CertsException}.
     *
     * @param authorities a PEM file of further authorities; null: none
     */
    public static SslContext client(@Nullable Path authorities) {
        List<X509Certificate> further = authorities == null
                ? List.of()
                : PemFiles.readCertificates(authorities);
        return client(new ServerTrust(further, true, List.of()), null, List.of());
    }

    /**
     * Creates the context of a diagnosis, which accepts every server and reports the rules that trust it. No
     * secret may be sent on such a connection.
     *
     * @param rules the rules, by names that the caller chooses
     * @param told called once for each handshake, on its thread
     */
    public static SslContext observing(Map<String, ServerTrust> rules, Consumer<ServerVerdict> told,
            List<String> protocols) {
        Map<String, ServerTrustManager> managers = rules.entrySet()
                .stream()
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey,
                        rule -> new ServerTrustManager(rule.getValue())));
        var observing = new ObservingTrustManager(shown -> told.accept(ServerVerdict.of(shown, managers)));
        return build(SslContextBuilder.forClient()
                .trustManager(observing)
                .endpointIdentificationAlgorithm("HTTPS"), protocols, Offer.of(VERSIONS), provider());
    }

    static SslContext edge(TlsMaterial material, List<String> protocols, Offer offer, SslProvider provider) {
        return build(SslContextBuilder.forServer(material.key(), material.chain()), protocols, offer,
                provider);
    }

    static SslContext tunnel(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols, Offer offer, SslProvider provider) {
        return build(
                SslContextBuilder.forServer(material.key(), material.chain())
                        .clientAuth(ClientAuth.OPTIONAL)
                        .trustManager(new DeferredTrustManager(List.copyOf(clientAuthorities))),
                protocols, offer, provider);
    }

    static SslContext client(ServerTrust trust, @Nullable TlsMaterial identity, List<String> protocols,
            Offer offer, SslProvider provider) {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .trustManager(new ServerTrustManager(trust))
                .endpointIdentificationAlgorithm("HTTPS");
        if (identity != null) {
            builder.keyManager(identity.key(), identity.chain());
        }
        return build(builder, protocols, offer, provider);
    }

    private static SslContext build(SslContextBuilder builder, List<String> protocols, Offer offer,
            SslProvider provider) {
        if (offer.hybridOnly()) {
            if (provider == SslProvider.JDK) {
                throw new CertsException("Java's TLS engine has no " + HYBRID
                        + " (expected: Netty's BoringSSL for this platform)");
            }
            builder.option(OpenSslContextOption.GROUPS, new String[]{HYBRID});
        }
        builder.sslProvider(provider)
                .protocols(offer.versions())
                .ciphers(CIPHERS,
                        SupportedCipherSuiteFilter.INSTANCE);
        if (!protocols.isEmpty()) {
            builder.applicationProtocolConfig(
                    new ApplicationProtocolConfig(Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE,
                            SelectedListenerFailureBehavior.ACCEPT, List.copyOf(protocols)));
        }
        try {
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new CertsException("TLS can't be set up with this certificate and key: " + e.getMessage(),
                    e);
        }
    }

    private static void load(String type) {
        try {
            Class.forName(type);
        } catch (ClassNotFoundException e) {
            // Another Java has other classes; then the first handshake takes a little longer.
            LOG.atDebug().addKeyValue("type", type).log("class not preloaded");
        }
    }

    private static SslProvider provider() {
        return OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;
    }
}
