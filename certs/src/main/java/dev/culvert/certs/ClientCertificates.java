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
 * Judges the certificate that a tunnel client showed, after a TLS handshake that accepted anything: so that the refusal
 * can be an HTTP answer that says why. The handshake has proven that the client holds the key.
 */
public final class ClientCertificates {
    /** The extended key usage of TLS clients (RFC 5280 §4.2.1.12). */
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

    private ClientCertificates() {}

    /** What came of it. The reasons may be shown to the client. */
    public sealed interface Verdict {
        /**
         * An authority of ours vouches for it, now.
         *
         * @param identity whom the client is
         */
        record Valid(ClientIdentity identity) implements Verdict {}

        /** The client showed no certificate. */
        record Missing() implements Verdict {}

        /**
         * An authority of ours issued it, but it has ended.
         *
         * @param identity whom the client was
         * @param since when it ended
         */
        record Expired(ClientIdentity identity, Instant since) implements Verdict {}

        /**
         * No authority of ours vouches for it.
         *
         * @param reason why, for the client
         */
        record Untrusted(String reason) implements Verdict {}
    }

    /** What the peer showed in the handshake of {@code session}, leaf first; empty if nothing. */
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

    /** Reads a certificate. Errors: {@link CertsException} unless {@code der} is one, and nothing else. */
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
     * Judges a client's chain. Only its leaf counts: authorities issue clients directly. Revocation is not looked at:
     * that is up to who knows the identity.
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
            // Whether we issued it comes first, at a time when it was valid; "expired" is for our own only.
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
