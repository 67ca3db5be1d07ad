package dev.culvert.certs;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateParsingException;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * Verifies the certificate of a tunnel client after a TLS handshake that accepted any certificate, so that a
 * refusal can be an HTTP response with a reason. The handshake has proven that the client holds the key.
 */
public final class ClientCertificates {
    /** The extended key usage of TLS clients (RFC 5280 §4.2.1.12). */
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

    private ClientCertificates() {}

    /** The result of the verification. Its reasons may be shown to the client. */
    public sealed interface Verdict {
        /**
         * A trusted authority issued the certificate and it is valid now.
         *
         * @param identity the identity of the client
         */
        record Valid(ClientIdentity identity) implements Verdict {}

        /** The client sent no certificate. */
        record Missing() implements Verdict {}

        /**
         * A trusted authority issued the certificate, but it has expired.
         *
         * @param identity the identity in the certificate
         * @param since the time of expiry
         */
        record Expired(ClientIdentity identity, Instant since) implements Verdict {}

        /**
         * No trusted authority issued the certificate.
         *
         * @param reason the reason, for the client
         */
        record Untrusted(String reason) implements Verdict {}
    }

    /** The certificates that the peer sent in the handshake of {@code session}, leaf first; empty if none. */
    public static List<X509Certificate> shown(SSLSession session) {
        try {
            return Arrays.stream(session.getPeerCertificates())
                    .filter(X509Certificate.class::isInstance)
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (SSLPeerUnverifiedException e) {
            return List.of();
        }
    }

    /** Parses a certificate. Errors: {@link CertsException} unless {@code der} is exactly one certificate. */
    public static X509Certificate parse(byte[] der) {
        try {
            var in = new ByteArrayInputStream(der);
            var certificate = CertificateFactory.getInstance("X.509").generateCertificate(in);
            if (in.available() == 0 && certificate instanceof X509Certificate read) {
                return read;
            }
            throw new CertsException("certificate: not DER of one X.509 certificate");
        } catch (CertificateException e) {
            throw new CertsException("certificate: not DER of one X.509 certificate", e);
        }
    }

    /**
     * Verifies a client's chain. Only the leaf is checked, because authorities issue client certificates
     * directly. Revocation is not checked: the caller does that by identity.
     */
    public static Verdict verify(List<X509Certificate> chain, List<X509Certificate> trustedCas, Instant now) {
        if (chain.isEmpty()) {
            return new Verdict.Missing();
        }
        X509Certificate leaf = chain.get(0);
        Instant start = leaf.getNotBefore().toInstant();
        Instant end = leaf.getNotAfter().toInstant();
        if (now.isBefore(start)) {
            return new Verdict.Untrusted(
                    "the certificate is not valid before " + start + "; compare the clocks");
        }
        boolean expired = now.isAfter(end);
        try {
            // Checks the issuer first, at a time when the certificate was valid. Only certificates of trusted
            // authorities are reported as expired.
            validate(leaf, trustedCas, expired ? end : now);
            ClientIdentity identity = ClientIdentity.from(leaf);
            return expired ? new Verdict.Expired(identity, end) : new Verdict.Valid(identity);
        } catch (CertsException e) {
            return new Verdict.Untrusted(String.valueOf(e.getMessage()));
        }
    }

    private static void validate(X509Certificate leaf, List<X509Certificate> trustedCas, Instant at) {
        if (trustedCas.isEmpty()) {
            throw new CertsException("no authority is trusted here");
        }
        try {
            List<String> usages = leaf.getExtendedKeyUsage();
            if (usages == null || !usages.contains(CLIENT_AUTH)) {
                throw new CertsException("the certificate is not for clients (expected: usage clientAuth)");
            }
            Set<TrustAnchor> anchors = trustedCas.stream()
                    .map(ca -> new TrustAnchor(ca, null))
                    .collect(Collectors.toSet());
            var parameters = new PKIXParameters(anchors);
            parameters.setRevocationEnabled(false);
            parameters.setDate(Date.from(at));
            var path = CertificateFactory.getInstance("X.509").generateCertPath(List.of(leaf));
            CertPathValidator.getInstance("PKIX").validate(path, parameters);
        } catch (CertificateParsingException e) {
            throw new CertsException("the certificate's extensions can't be read", e);
        } catch (CertPathValidatorException e) {
            throw new CertsException("the certificate was not issued by an authority trusted here", e);
        } catch (GeneralSecurityException e) {
            throw new CertsException("the certificate can't be verified", e);
        }
    }
}
