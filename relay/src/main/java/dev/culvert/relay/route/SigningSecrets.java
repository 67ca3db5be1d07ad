package dev.culvert.relay.route;

import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The secrets with which the webhooks of one route may be signed; several during a rotation. Immutable.
 * {@link #toString} prints only their number.
 */
public final class SigningSecrets {
    /** The maximum number of secrets. More are a mistake, and each costs an HMAC for every webhook. */
    public static final int MAX_SECRETS = 8;
    /** The maximum length of a secret. Providers accept far less. */
    public static final int MAX_BYTES = 1024;
    /** No secrets: no signature is valid, so every webhook is refused. */
    public static final SigningSecrets NONE = new SigningSecrets(List.of());

    private final List<byte[]> secrets;

    private SigningSecrets(List<byte[]> secrets) {
        this.secrets = secrets;
    }

    /**
     * Creates a set of secrets. Takes ownership of the arrays.
     *
     * @throws IllegalArgumentException if there are more than {@link #MAX_SECRETS}, or a secret does not have
     *     1 to {@link #MAX_BYTES} bytes
     */
    public static SigningSecrets of(List<byte[]> secrets) {
        if (secrets.size() > MAX_SECRETS) {
            throw new IllegalArgumentException(
                    secrets.size() + " secrets (expected: at most " + MAX_SECRETS + ")");
        }
        for (byte[] secret : secrets) {
            if (secret.length < 1 || secret.length > MAX_BYTES) {
                throw new IllegalArgumentException(
                        "a secret of " + secret.length + " bytes (expected: 1.." + MAX_BYTES + ")");
            }
        }
        return secrets.isEmpty() ? NONE : new SigningSecrets(List.copyOf(secrets));
    }

    /** Returns the bytes of each secret. Callers must not change them. */
    public List<byte[]> list() {
        return secrets;
    }

    public boolean isEmpty() {
        return secrets.isEmpty();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof SigningSecrets that) || secrets.size() != that.secrets.size()) {
            return false;
        }
        boolean same = true;
        for (int i = 0; i < secrets.size(); i++) {
            same &= MessageDigest.isEqual(secrets.get(i), that.secrets.get(i));
        }
        return same;
    }

    /** Reveals nothing about the secrets. */
    @Override
    public int hashCode() {
        return secrets.size();
    }

    @Override
    public String toString() {
        return secrets.size() + " secrets";
    }
}
