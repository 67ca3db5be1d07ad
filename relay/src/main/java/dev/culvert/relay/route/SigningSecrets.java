package dev.culvert.relay.route;

import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The secrets that the webhooks of one route may be signed with, several during a rotation. Immutable; prints how many there are. */
public final class SigningSecrets {
    /** More are a mistake, and each costs an HMAC a webhook. */
    public static final int MAX_SECRETS = 8;
    /** What one may have; providers take far less. */
    public static final int MAX_BYTES = 1024;
    /** Nothing is signed right: every webhook is refused. */
    public static final SigningSecrets NONE = new SigningSecrets(List.of());

    private final List<byte[]> secrets;

    private SigningSecrets(List<byte[]> secrets) {
        this.secrets = secrets;
    }

    /**
     * These secrets. Takes ownership of the arrays.
     *
     * @throws IllegalArgumentException for more than {@link #MAX_SECRETS}, or one that has not 1 to {@link #MAX_BYTES} bytes
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

    /** Each secret's bytes, which must not be changed. */
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

    /** Tells nothing of what they are. */
    @Override
    public int hashCode() {
        return secrets.size();
    }

    @Override
    public String toString() {
        return secrets.size() + " secrets";
    }
}
