package dev.culvert.platform.runtimes.store;

/**
 * What the tunnel server gets of a runtime's enrolment token. Whoever knows it can enrol a client, so it is
 * forgotten when a client has enrolled, or when it expires.
 *
 * @param id the token's id
 * @param hash the token's secret hash, as base64url; {@link RuntimeSecrets} wraps it for the table
 * @param expires seconds since 1970
 */
public record Credential(String id, String hash, long expires) {
    /** The same, with its hash in another form. */
    Credential withHash(String other) {
        return new Credential(id, other, expires);
    }

    /** As the column has it. */
    String text() {
        return id + " " + hash;
    }

    /** Reads {@link #text}. */
    static Credential of(String text, long expires) {
        int space = text.indexOf(' ');
        return new Credential(text.substring(0, space), text.substring(space + 1), expires);
    }

    /** Without the hash. */
    @Override
    public String toString() {
        return id;
    }
}
