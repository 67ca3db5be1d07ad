package dev.culvert.certs;

import org.jspecify.annotations.Nullable;

/**
 * Reports an unusable key, certificate, request or token. The message states what was found, in which file if
 * any, and what was expected. It never contains a secret, so it may be shown to a user or a peer.
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
