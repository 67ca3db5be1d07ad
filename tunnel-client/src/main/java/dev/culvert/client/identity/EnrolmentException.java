package dev.culvert.client.identity;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An enrolment that gave no identity. Carries no stack trace where a peer or the network is to blame; no secret. */
public abstract sealed class EnrolmentException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private EnrolmentException(String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
    }

    /** Whether the same attempt may succeed later. */
    public abstract boolean retryable();

    /** The server refused for good: the operator needs a new token. The message carries the server's own words. */
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

    /** Could not be carried out: no connection, no trust in the server, an overloaded server, a strange answer. */
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

        /** How long the server asks to wait; null: it did not say. */
        public @Nullable Duration retryAfter() {
            return retryAfter;
        }

        @Override
        public boolean retryable() {
            return true;
        }
    }
}
