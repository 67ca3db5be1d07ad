package dev.culvert.server.runtime;

/**
 * A new enrolment token: shown once, to whom asked for it.
 *
 * @param text the secret that the operator carries to the client
 * @param stored what the server keeps of it
 */
public record IssuedToken(String text, StoredToken stored) {
    /** Without the secret. */
    @Override
    public String toString() {
        return "IssuedToken[text=***, stored=" + stored + "]";
    }
}
