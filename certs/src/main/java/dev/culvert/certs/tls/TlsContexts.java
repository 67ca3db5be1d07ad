package dev.culvert.certs.tls;

import dev.culvert.certs.CallerCertificates;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
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
 * The TLS of listeners and dials, as Netty wants it: TLS 1.2 and 1.3 with forward-secret AEAD suites, by BoringSSL where
 * its native library is, else by Java's engine. Make a context once and share it; a client's handler must be made with
 * host and port ({@code newHandler(alloc, host, port)}), else it trusts nobody. Sessions can be resumed; who resumes one
 * showed its certificate back then, so judge it each time.
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

    /** Java's lists of distrusted and of public authorities, which these read from files when they are first used. */
    private static final List<String> LAZY_LISTS = List.of("sun.security.util.UntrustedCertificates",
            "sun.security.util.AnchorCertificates");

    static {
        // Now, by whoever makes the first context, and not on an event loop in the first handshake.
        LAZY_LISTS.forEach(TlsContexts::load);
    }

    private TlsContexts() {}

    /** The engine in use, for logs: {@code BoringSSL …} or {@code JDK}. */
    public static String engine() {
        return OpenSsl.isAvailable() ? String.valueOf(OpenSsl.versionString()) : "JDK";
    }

    /**
     * For the edge listener.
     *
     * @param protocols what ALPN offers, preferred first, as {@code h2}, {@code http/1.1}; empty: no ALPN
     */
    public static SslContext edge(TlsMaterial material, List<String> protocols) {
        return edge(material, protocols, provider());
    }

    /**
     * For the edge listener where callers need certificates: asks for one, and accepts none or any; {@link
     * CallerCertificates} must judge what was shown.
     *
     * @param protocols what ALPN offers, preferred first; empty: no ALPN
     */
    public static SslContext edgeAsking(TlsMaterial material, List<String> protocols) {
        return tunnel(material, List.of(), protocols, VERSIONS, provider());
    }

    /**
     * For the tunnel listener: asks for a client certificate, and accepts none or any; {@link ClientCertificates#verify}
     * must judge what was shown. TLS 1.3 only, so that the certificates of clients cross the network encrypted.
     *
     * @param clientAuthorities named to clients, so that they know which certificate to show
     * @param protocols what ALPN offers, preferred first; empty: no ALPN
     */
    public static SslContext tunnel(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols) {
        return tunnel(material, clientAuthorities, protocols, TLS13, provider());
    }

    /** The same, but TLS 1.2 is served, too: for proxies on the way that end TLS and know no better. */
    public static SslContext tunnelWithTls12(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols) {
        return tunnel(material, clientAuthorities, protocols, VERSIONS, provider());
    }

    /**
     * For dials.
     *
     * @param trust which servers to believe
     * @param identity the client certificate to show; null: none
     * @param protocols what ALPN offers, preferred first; empty: no ALPN
     */
    public static SslContext client(ServerTrust trust, @Nullable TlsMaterial identity,
            List<String> protocols) {
        return client(trust, identity, protocols, provider());
    }

    /**
     * For a diagnosis: trusts every server, and tells which rules would. Say nothing secret on such a connection.
     *
     * @param rules by names of the caller's choice
     * @param told once a handshake, on its thread
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
                .endpointIdentificationAlgorithm("HTTPS"), protocols, VERSIONS, provider());
    }

    static SslContext edge(TlsMaterial material, List<String> protocols, SslProvider provider) {
        return build(SslContextBuilder.forServer(material.key(), material.chain()), protocols, VERSIONS,
                provider);
    }

    static SslContext tunnel(TlsMaterial material, List<X509Certificate> clientAuthorities,
            List<String> protocols, List<String> versions, SslProvider provider) {
        return build(
                SslContextBuilder.forServer(material.key(), material.chain())
                        .clientAuth(ClientAuth.OPTIONAL)
                        .trustManager(new DeferredTrustManager(List.copyOf(clientAuthorities))),
                protocols, versions, provider);
    }

    static SslContext client(ServerTrust trust, @Nullable TlsMaterial identity, List<String> protocols,
            SslProvider provider) {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .trustManager(new ServerTrustManager(trust))
                .endpointIdentificationAlgorithm("HTTPS");
        if (identity != null) {
            builder.keyManager(identity.key(), identity.chain());
        }
        return build(builder, protocols, VERSIONS, provider);
    }

    private static SslContext build(SslContextBuilder builder, List<String> protocols, List<String> versions,
            SslProvider provider) {
        builder.sslProvider(provider)
                .protocols(versions)
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
            // Another Java keeps them elsewhere: the first handshake takes a little longer.
            LOG.atDebug().addKeyValue("type", type).log("not loaded ahead");
        }
    }

    private static SslProvider provider() {
        return OpenSsl.isAvailable() ? SslProvider.OPENSSL : SslProvider.JDK;
    }
}
