package dev.culvert.client.dial;

import java.time.Duration;

/** A dial that led to no session. Carries no stack trace: in operation it is expected. */
public final class DialFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Kind kind;
    private final Duration retryAfter;

    private enum Kind {
        UNREACHABLE, ABSENT, REFUSED, OVERLOADED
    }

    private DialFailure(String message, Kind kind, Duration retryAfter) {
        super(message, null, false, false);
        this.kind = kind;
        this.retryAfter = retryAfter;
    }

    /** The server could not be reached, or did not answer as one. */
    public static DialFailure unreachable(String message) {
        return new DialFailure(message, Kind.UNREACHABLE, Duration.ZERO);
    }

    /** No server listens there: its host refused the connection, or a balancer or proxy answered that. */
    public static DialFailure absent(String message) {
        return new DialFailure(message, Kind.ABSENT, Duration.ZERO);
    }

    /** The server does not accept this client's identity. */
    public static DialFailure refused(String message) {
        return new DialFailure(message, Kind.REFUSED, Duration.ZERO);
    }

    /** The server has too much to do, and says when to come back. */
    public static DialFailure overloaded(String message, Duration retryAfter) {
        return new DialFailure(message, Kind.OVERLOADED, retryAfter);
    }

    /** How long the server asks this client to wait, as it said; zero: nothing. */
    public Duration retryAfter() {
        return retryAfter;
    }

    public boolean isRefused() {
        return kind == Kind.REFUSED;
    }

    public boolean isAbsence() {
        return kind == Kind.ABSENT;
    }
}
