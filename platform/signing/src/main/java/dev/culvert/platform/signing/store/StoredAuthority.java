package dev.culvert.platform.signing.store;

import org.jspecify.annotations.Nullable;

/**
 * The authority of an account.
 *
 * @param certificate as PEM
 * @param secret its key, wrapped
 * @param crlNumber the number of its last list of revoked certificates
 * @param crl that list, in base64; null: none was made
 * @param crlUntil when the next list is to be made, in milliseconds since 1970
 */
public record StoredAuthority(String account, String certificate, String secret, long crlNumber,
        @Nullable String crl, long crlUntil) {
    /** Without the key. */
    @Override
    public String toString() {
        return account;
    }
}
