package dev.culvert.certs.tls;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.KeyPin;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Applies a {@link ServerTrust} with Java's path validation and host name check. The host name check is
 * mandatory: an engine without a host, or with the check disabled, trusts no server.
 */
final class ServerTrustManager extends EngineTrustManager {
    private final List<X509ExtendedTrustManager> fixed = new ArrayList<>();
    private final List<KeyPin> pins;

    ServerTrustManager(ServerTrust trust) {
        pins = trust.pins();
        if (!trust.authorities().isEmpty()) {
            fixed.add(standard(trust.authorities()));
        }
        if (trust.systemRoots()) {
            fixed.add(standard(null));
        }
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        if (!"HTTPS".equals(engine.getSSLParameters().getEndpointIdentificationAlgorithm())
                || engine.getPeerHost() == null) {
            throw new CertificateException(
                    "the server's host name can't be verified: the engine does not know it");
        }
        List<X509ExtendedTrustManager> rules = new ArrayList<>(fixed);
        CertificateException refusal = new CertificateException(TrustRefusal.NO_PIN);
        for (X509Certificate candidate : chain) {
            if (pins.contains(KeyPin.of(candidate)) && CertificateAuthority.isAuthority(candidate)) {
                try {
                    candidate.checkValidity();
                    rules.add(standard(List.of(candidate)));
                } catch (CertificateException e) {
                    refusal = e;
                }
            }
        }
        for (X509ExtendedTrustManager rule : rules) {
            try {
                rule.checkServerTrusted(chain, authType, engine);
                return;
            } catch (CertificateException e) {
                refusal = e;
            }
        }
        // The issuer's name reveals an inspecting proxy.
        TrustRefusal why = TrustRefusal.of(refusal, chain[0], engine.getPeerHost(), Instant.now());
        throw new UntrustedServerException(why.reason(), "the server's certificate, issued by "
                + chain[0].getIssuerX500Principal() + ", is not trusted: " + why.text(), refusal);
    }

    /** Java's trust manager for these authorities, or for the system's roots if null. */
    private static X509ExtendedTrustManager standard(@Nullable List<X509Certificate> authorities) {
        try {
            KeyStore store = null;
            if (authorities != null) {
                store = KeyStore.getInstance(KeyStore.getDefaultType());
                store.load(null, null);
                for (int i = 0; i < authorities.size(); i++) {
                    store.setCertificateEntry(Integer.toString(i), authorities.get(i));
                }
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
            factory.init(store);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager extended) {
                    return extended;
                }
            }
            throw new CertsException("this Java has no extended PKIX trust manager");
        } catch (GeneralSecurityException | IOException e) {
            throw new CertsException("the trusted authorities can't be loaded", e);
        }
    }
}
