package dev.culvert.server.runtime;

import dev.culvert.certs.Base64Url;
import dev.culvert.certs.Sha256;
import java.time.Instant;

/**
 * An enrolment token that another part has made, without its secret.
 *
 * @param id 16 bytes as base64url; not secret
 * @param hash the SHA-256 of its secret, the key of the enrolment's proofs
 * @param expires from which time on it enrols no client, in whole milliseconds
 */
public record EnrolmentCredential(String id, Sha256 hash, Instant expires) {
    private static final int ID_BYTES = 16;
    private static final int HASH_BYTES = 32;

    /** Reads the id and the hash from base64url. Throws {@link dev.culvert.certs.CertsException}. */
    public static EnrolmentCredential of(String id, String hash, Instant expires) {
        Base64Url.decode("enrolment.id", id, ID_BYTES);
        return new EnrolmentCredential(id,
                Sha256.from(Base64Url.decode("enrolment.hash", hash, HASH_BYTES)), expires);
    }

    /** The token of a runtime, as the store keeps it. */
    StoredToken of(String runtimeId) {
        return new StoredToken(id, hash, runtimeId, expires, null, null);
    }
}
