package dev.culvert.certs;

import org.jspecify.annotations.Nullable;

/**
 * A key, certificate, request or token that can't be used. The message says what was found, where (the file, if it came
 * from one) and what was expected; it never holds a secret, so it may be shown to a user or a peer.
 */
public final class CertsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CertsException(String message) {
        this(message, null);
    }

    public CertsException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
