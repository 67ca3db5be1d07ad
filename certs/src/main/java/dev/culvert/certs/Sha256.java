package dev.culvert.certs;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A SHA-256 digest. Compared in constant time. Never printed, because the digest of a secret may itself be a
 * key.
 */
public final class Sha256 {
    private static final int BYTES = 32;

    private final byte[] bytes;

    private Sha256(byte[] bytes) {
        this.bytes = bytes;
    }

    /** The digest of {@code content}, which is borrowed for the call. */
    public static Sha256 of(byte[] content) {
        try {
            return new Sha256(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Wraps an existing digest. Throws IllegalArgumentException unless it has 32 bytes. */
    public static Sha256 from(byte[] digest) {
        if (digest.length != BYTES) {
            throw new IllegalArgumentException(digest.length + " bytes (expected: " + BYTES + ")");
        }
        return new Sha256(digest.clone());
    }

    /** A copy of the 32 bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Sha256 digest && MessageDigest.isEqual(bytes, digest.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "***";
    }
}
