package dev.culvert.certs;

import java.security.GeneralSecurityException;
import java.security.cert.CertPathBuilder;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertStore;
import java.security.cert.CertificateParsingException;
import java.security.cert.CollectionCertStoreParameters;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Verifies the certificates of the edge's callers after a TLS handshake that accepted any certificate. A
 * trusted authority issues them, directly or through intermediate authorities whose certificates the caller
 * sends too. Revocation is not checked.
 */
public final class CallerCertificates {
    /** The extended key usages of TLS clients (RFC 5280 §4.2.1.12). */
    private static final Set<String> USAGES = Set.of("1.3.6.1.5.5.7.3.2", "2.5.29.37.0");
    /** Longer chains are expensive, and no legitimate caller has one. */
    private static final int MAX_CHAIN = 8;

    private final Set<TrustAnchor> anchors;

    public CallerCertificates(List<X509Certificate> authorities) {
        this.anchors = authorities.stream()
                .map(authority -> new TrustAnchor(authority, null))
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Throws CertsException unless the chain's leaf is trusted now. The message may be shown to the caller.
     * Takes up to some milliseconds, so it must not run on an event loop.
     *
     * @param chain the certificate chain, leaf first
     */
    public void verify(List<X509Certificate> chain, Instant now) {
        if (chain.isEmpty() || chain.size() > MAX_CHAIN) {
            throw new CertsException("the client certificate's chain is too long");
        }
        X509Certificate leaf = chain.getFirst();
        if (now.isAfter(leaf.getNotAfter().toInstant())) {
            throw new CertsException("the client certificate has expired");
        }
        try {
            List<String> usages = leaf.getExtendedKeyUsage();
            if (usages != null && usages.stream().noneMatch(USAGES::contains)) {
                throw new CertsException("the certificate is not for clients (expected: usage clientAuth)");
            }
            var leafOnly = new X509CertSelector();
            leafOnly.setCertificate(leaf);
            var parameters = new PKIXBuilderParameters(anchors, leafOnly);
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(now));
            parameters.setMaxPathLength(MAX_CHAIN);
            parameters.addCertStore(
                    CertStore.getInstance("Collection", new CollectionCertStoreParameters(chain)));
            CertPathBuilder.getInstance("PKIX").build(parameters);
        } catch (CertificateParsingException e) {
            throw new CertsException("the client certificate's extensions can't be read", e);
        } catch (CertPathBuilderException e) {
            throw new CertsException(
                    "the client certificate was not issued by an authority that is trusted here", e);
        } catch (GeneralSecurityException e) {
            throw new CertsException("the client certificate can't be verified", e);
        }
    }
}
