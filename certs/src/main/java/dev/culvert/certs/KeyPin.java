package dev.culvert.certs;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The SHA-256 of a certificate's SubjectPublicKeyInfo, which identifies an authority by its key (RFC 7469
 * §2.4). Not a secret.
 */
public final class KeyPin {
    static final int BYTES = 32;

    private final byte[] sha256;

    private KeyPin(byte[] sha256) {
        this.sha256 = sha256;
    }

    /** The pin of the certificate's key. */
    public static KeyPin of(X509Certificate certificate) {
        return new KeyPin(sha256(certificate.getPublicKey().getEncoded()));
    }

    /** Parses {@link #text}. Throws {@link CertsException}. */
    public static KeyPin parse(String text) {
        return new KeyPin(Base64Url.decode("pin", text, BYTES));
    }

    /** The pin in base64url without padding, 43 characters. */
    public String text() {
        return Base64Url.encode(sha256);
    }

    static byte[] sha256(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new CertsException("every Java platform has SHA-256", e);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof KeyPin pin && Arrays.equals(sha256, pin.sha256);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(sha256);
    }

    @Override
    public String toString() {
        return text();
    }
}
