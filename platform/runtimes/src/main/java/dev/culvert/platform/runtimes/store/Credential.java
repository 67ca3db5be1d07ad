package dev.culvert.platform.runtimes.store;

/**
 * What the tunnel server gets of a runtime's enrolment token. Whoever knows it can enrol a client, so it is
 * forgotten when it expires.
 *
 * @param id the token's id
 * @param hash the token's secret hash, as base64url
 * @param expires seconds since 1970
 */
public record Credential(String id, String hash, long expires) {
    /** Without the hash. */
    @Override
    public String toString() {
        return id;
    }
}
