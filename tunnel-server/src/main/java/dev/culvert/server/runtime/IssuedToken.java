package dev.culvert.server.runtime;

/**
 * A new enrolment token: shown once, to the caller that requested it.
 *
 * @param text the secret that the operator carries to the client
 * @param stored the part that the server keeps
 */
public record IssuedToken(String text, StoredToken stored) {
    /** Without the secret. */
    @Override
    public String toString() {
        return "IssuedToken[text=***, stored=" + stored + "]";
    }
}
