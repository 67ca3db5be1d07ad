package dev.culvert.client.dial;

import java.time.Duration;

/** Reports a dial that gave no session. Expected in operation, so it carries no stack trace. */
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

    /** The server could not be reached, or its response was not that of a Culvert server. */
    public static DialFailure unreachable(String message) {
        return new DialFailure(message, Kind.UNREACHABLE, Duration.ZERO);
    }

    /** No server listens there: the host refused the connection, or a balancer or proxy reported that. */
    public static DialFailure absent(String message) {
        return new DialFailure(message, Kind.ABSENT, Duration.ZERO);
    }

    /** The server does not accept this client's identity. */
    public static DialFailure refused(String message) {
        return new DialFailure(message, Kind.REFUSED, Duration.ZERO);
    }

    /** The server is overloaded and states when to retry. */
    public static DialFailure overloaded(String message, Duration retryAfter) {
        return new DialFailure(message, Kind.OVERLOADED, retryAfter);
    }

    /** The time for which the server asks this client to wait; zero if it does not. */
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
