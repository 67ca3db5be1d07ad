package dev.culvert.server.runtime;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What the server keeps of an enrolment token: never the secret itself.
 *
 * @param id names it on the wire; not secret
 * @param hash SHA-256 of the secret, the key of the enrolment's proofs
 * @param runtimeId the runtime it enrols
 * @param expires from when on it is refused, in whole milliseconds
 * @param usedBy SHA-256 of the public key it was used with, or null before its first use
 * @param certificate what that key got, as PEM, for who asks again because the answer was lost
 */
public record StoredToken(String id, Sha256 hash, String runtimeId, Instant expires,
        @Nullable Sha256 usedBy, @Nullable String certificate) {

    /** Whether the key with this SHA-256 may use the token: the first one, and again that one. */
    public boolean usableBy(Sha256 keyHash) {
        return usedBy == null || usedBy.equals(keyHash);
    }

    /** Whether it enrols no new key any more: it was used, or it has expired. */
    public boolean isSpent(Instant now) {
        return usedBy != null || !now.isBefore(expires);
    }

    /** This token after its use. */
    public StoredToken usedBy(Sha256 keyHash, String pem) {
        return new StoredToken(id, hash, runtimeId, expires, keyHash, pem);
    }
}
