package dev.culvert.client;

/** A dial that led to no session. Carries no stack trace: in operation it is expected. */
final class DialFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean refused;

    private DialFailure(String message, boolean refused) {
        super(message, null, false, false);
        this.refused = refused;
    }

    /** The server could not be reached, or did not answer as one. */
    static DialFailure unreachable(String message) {
        return new DialFailure(message, false);
    }

    /** The server does not accept this client's identity. */
    static DialFailure refused(String message) {
        return new DialFailure(message, true);
    }

    boolean isRefused() {
        return refused;
    }
}
