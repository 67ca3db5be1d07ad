package dev.culvert.server.runtime;

import dev.culvert.certs.Sha256;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An enrolment token as stored by the server: without the secret.
 *
 * @param id names it on the wire; not secret
 * @param hash SHA-256 of the secret, the key of the enrolment's proofs
 * @param runtimeId the runtime it enrols
 * @param expires the time from which on it is refused, in whole milliseconds
 * @param usedBy SHA-256 of the public key it was used with, or null before its first use
 * @param certificate the certificate issued for that key, as PEM; sent again to a client that lost the
 *        response
 */
public record StoredToken(String id, Sha256 hash, String runtimeId, Instant expires,
        @Nullable Sha256 usedBy, @Nullable String certificate) {

    /** Whether the key with this SHA-256 may use the token: the first key, and later only that key. */
    public boolean usableBy(Sha256 keyHash) {
        return usedBy == null || usedBy.equals(keyHash);
    }

    /** Whether the token can enrol no further key: it was used, or it has expired. */
    public boolean isSpent(Instant now) {
        return usedBy != null || !now.isBefore(expires);
    }

    /** Returns this token after its use. */
    public StoredToken usedBy(Sha256 keyHash, String pem) {
        return new StoredToken(id, hash, runtimeId, expires, keyHash, pem);
    }
}
