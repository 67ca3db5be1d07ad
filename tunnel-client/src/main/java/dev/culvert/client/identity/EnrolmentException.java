package dev.culvert.client.identity;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Reports an enrolment that gave no identity. Carries no stack trace if a peer or the network caused it.
 * Contains no secret.
 */
public abstract sealed class EnrolmentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private EnrolmentException(String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
    }

    /** Whether the same attempt may succeed later. */
    public abstract boolean retryable();

    /**
     * The server refused for good, so the operator needs a new token. The message contains the server's
     * reason.
     */
    public static final class Refused extends EnrolmentException {
        private static final long serialVersionUID = 1L;

        Refused(String message) {
            super(message, null);
        }

        @Override
        public boolean retryable() {
            return false;
        }
    }

    /**
     * The enrolment could not be completed: no connection, no trust in the server, an overloaded server, or
     * an invalid response.
     */
    public static final class Failed extends EnrolmentException {
        private static final long serialVersionUID = 1L;

        private final @Nullable Duration retryAfter;

        Failed(String message, @Nullable Throwable cause) {
            this(message, cause, null);
        }

        Failed(String message, @Nullable Throwable cause, @Nullable Duration retryAfter) {
            super(message, cause);
            this.retryAfter = retryAfter;
        }

        /** The time for which the server asks to wait; null if it does not. */
        public @Nullable Duration retryAfter() {
            return retryAfter;
        }

        @Override
        public boolean retryable() {
            return true;
        }
    }
}
