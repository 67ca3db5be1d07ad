package dev.culvert.certs;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * Converts certificates and keys from and to PEM text (RFC 7468). Parsing is strict inside the blocks and, as
 * the RFC requires, lenient about text around them.
 */
public final class Pem {
    /** The maximum length of a text, about 500 certificates. */
    static final int MAX_TEXT_CHARS = 1 << 20;
    static final String CERTIFICATE = "CERTIFICATE";
    private static final Base64.Encoder ENCODER = Base64.getMimeEncoder(64, new byte[]{'\n'});

    private Pem() {}

    /** One certificate as a PEM block. */
    public static String text(X509Certificate certificate) {
        return text(List.of(certificate));
    }

    /** Certificates as PEM blocks in the same order. */
    public static String text(List<X509Certificate> certificates) {
        StringBuilder text = new StringBuilder();
        for (X509Certificate certificate : certificates) {
            try {
                text.append(block(CERTIFICATE, certificate.getEncoded()));
            } catch (CertificateEncodingException e) {
                throw new CertsException("a certificate that has no encoding", e);
            }
        }
        return text.toString();
    }

    /** A private key as PKCS#8 in PEM. A secret, only for key files. */
    public static String text(PrivateKey key) {
        byte[] encoded = key.getEncoded();
        if (encoded == null) {
            throw new CertsException(
                    "a private key that can't leave its device (expected: a key that can be written)");
        }
        return block("PRIVATE KEY", encoded);
    }

    /**
     * Parses the certificates of a PEM text, at least one, in the same order. Throws {@link CertsException}.
     */
    public static List<X509Certificate> certificates(String text) {
        List<X509Certificate> certificates = new ArrayList<>();
        for (PemBlock block : PemBlock.all(text)) {
            if (block.label().equals(CERTIFICATE)) {
                certificates.add(certificate(block.content()));
            }
        }
        if (certificates.isEmpty()) {
            throw new CertsException("no certificate (expected: -----BEGIN CERTIFICATE-----)");
        }
        return List.copyOf(certificates);
    }

    /**
     * Parses the only private key of a PEM text: PKCS#8, SEC1 or PKCS#1, not encrypted. Throws {@link
     * CertsException}.
     */
    public static PrivateKey privateKey(String text) {
        List<PemBlock> keys = PemBlock.all(text)
                .stream()
                .filter(block -> block.label().endsWith("PRIVATE KEY"))
                .toList();
        if (keys.size() != 1) {
            throw new CertsException(
                    keys.size() + " private keys (expected: one, -----BEGIN PRIVATE KEY-----)");
        }
        try {
            return PrivateKeys.decode(keys.get(0));
        } catch (CertsException e) {
            throw e;
        } catch (GeneralSecurityException | RuntimeException e) {
            // ASN.1 parsers throw every kind of unchecked exception for damaged files.
            throw new CertsException(
                    "a private key that can't be decoded (expected: PKCS#8, or SEC1 for EC keys)", e);
        }
    }

    static String block(String label, byte[] content) {
        return "-----BEGIN " + label + "-----\n" + ENCODER.encodeToString(content) + "\n-----END " + label
                + "-----\n";
    }

    private static X509Certificate certificate(byte[] der) {
        try {
            var in = new ByteArrayInputStream(der);
            var certificate = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(in);
            if (in.available() > 0) {
                throw new CertsException(in.available() + " bytes after a certificate (expected: none)");
            }
            return certificate;
        } catch (CertificateException e) {
            throw new CertsException("a certificate that can't be decoded (expected: X.509 in DER)", e);
        }
    }
}
