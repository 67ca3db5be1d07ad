package dev.culvert.client;

import java.time.Duration;

/** A dial that led to no session. Carries no stack trace: in operation it is expected. */
final class DialFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean refused;
    private final Duration retryAfter;

    private DialFailure(String message, boolean refused, Duration retryAfter) {
        super(message, null, false, false);
        this.refused = refused;
        this.retryAfter = retryAfter;
    }

    /** The server could not be reached, or did not answer as one. */
    static DialFailure unreachable(String message) {
        return new DialFailure(message, false, Duration.ZERO);
    }

    /** The server does not accept this client's identity. */
    static DialFailure refused(String message) {
        return new DialFailure(message, true, Duration.ZERO);
    }

    /** The server has too much to do, and says when to come back. */
    static DialFailure overloaded(String message, Duration retryAfter) {
        return new DialFailure(message, false, retryAfter);
    }

    /** How long the server asks this client to wait, as it said; zero: nothing. */
    Duration retryAfter() {
        return retryAfter;
    }

    boolean isRefused() {
        return refused;
    }
}
