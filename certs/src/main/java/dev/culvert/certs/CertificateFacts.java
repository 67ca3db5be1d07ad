package dev.culvert.certs;

import java.security.PublicKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.EdECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The content of a certificate, for people and scripts. Trust is not checked.
 *
 * @param subject in the form of RFC 2253, like {@code issuer}
 * @param serial in hexadecimal
 * @param key kind and size, for example {@code EC P-256}
 * @param authority whether it may sign other certificates
 * @param server whether servers may use it
 * @param client whether clients may use it
 * @param identity the identity of a tunnel client, or null if the certificate names no runtime
 * @param sha256 the hash of the whole certificate in the usual form {@code AB:CD:…}
 */
public record CertificateFacts(String subject, AlternativeNames names, String issuer, String serial,
        Instant notBefore, Instant notAfter, String key, boolean authority, boolean server, boolean client,
        @Nullable ClientIdentity identity, String sha256) {
    /** Extended key usages (RFC 5280 §4.2.1.12). */
    private static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
    private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
    private static final Pattern NIST_NAME = Pattern.compile("NIST (P-\\d+)");

    /** Reads the facts. Throws {@link CertsException} if an extension is malformed. */
    public static CertificateFacts of(X509Certificate certificate) {
        boolean authority = CertificateAuthority.isAuthority(certificate);
        List<String> usages = usages(certificate);
        boolean unlimited = usages == null && !authority;
        AlternativeNames names = AlternativeNames.of(certificate);
        return new CertificateFacts(certificate.getSubjectX500Principal().getName(), names,
                certificate.getIssuerX500Principal().getName(), certificate.getSerialNumber().toString(16),
                certificate.getNotBefore().toInstant(), certificate.getNotAfter().toInstant(),
                key(certificate.getPublicKey()), authority,
                unlimited || usages != null && usages.contains(SERVER_AUTH),
                unlimited || usages != null && usages.contains(CLIENT_AUTH), identity(certificate),
                fingerprint(certificate));
    }

    private static @Nullable List<String> usages(X509Certificate certificate) {
        try {
            return certificate.getExtendedKeyUsage();
        } catch (CertificateParsingException e) {
            throw new CertsException("a certificate with malformed usages", e);
        }
    }

    private static @Nullable ClientIdentity identity(X509Certificate certificate) {
        try {
            return ClientIdentity.from(certificate);
        } catch (CertsException e) {
            return null; // not a certificate of a tunnel client
        }
    }

    private static String key(PublicKey key) {
        return switch (key) {
            case ECPublicKey ec -> {
                Matcher name = NIST_NAME.matcher(String.valueOf(ec.getParams()));
                yield "EC " + (name.find() ? name.group(1) : ec.getParams().getOrder().bitLength() + " bits");
            }
            case RSAPublicKey rsa -> "RSA " + rsa.getModulus().bitLength() + " bits";
            case EdECPublicKey edwards -> edwards.getParams().getName();
            default -> key.getAlgorithm();
        };
    }

    private static String fingerprint(X509Certificate certificate) {
        try {
            return HexFormat.ofDelimiter(":")
                    .withUpperCase()
                    .formatHex(KeyPin.sha256(certificate.getEncoded()));
        } catch (CertificateEncodingException e) {
            throw new CertsException("a certificate that has no encoding", e);
        }
    }
}
