package dev.culvert.store;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Why the store did not do what it was asked. Nothing was changed, unless it says otherwise. */
public abstract sealed class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private StoreException(String message, @Nullable Throwable cause) {
        // An expected refusal is an answer and needs no trace; a failure's trace is its cause's.
        super(message, cause, false, false);
    }

    /** What is to be made exists already, or its host is taken. */
    public static final class Conflict extends StoreException {
        private static final long serialVersionUID = 1L;

        public Conflict(String message) {
            super(message, null);
        }
    }

    /** There is no such thing. */
    public static final class Absent extends StoreException {
        private static final long serialVersionUID = 1L;

        public Absent(String message) {
            super(message, null);
        }
    }

    /** A limit of the store is reached. */
    public static final class Full extends StoreException {
        private static final long serialVersionUID = 1L;

        public Full(String message) {
            super(message, null);
        }
    }

    /** Too many changes wait, or the store is closed: trying again later may help. */
    public static final class Busy extends StoreException {
        private static final long serialVersionUID = 1L;

        public Busy(String message) {
            super(message, null);
        }
    }

    /** Another process holds the database, or this one has let it go: it can't be changed here. The message says who. */
    public static final class Held extends StoreException {
        private static final long serialVersionUID = 1L;

        public Held(String message) {
            super(message, null);
        }
    }

    /** The database failed: disk full, file damaged. */
    public static final class Failed extends StoreException {
        private static final long serialVersionUID = 1L;

        public Failed(String message, Throwable cause) {
            super(message, cause);
        }

        /** Whether the disk, or what the database may take of it, is used up. */
        public boolean isDiskFull() {
            return getCause() instanceof SQLException cause && DatabaseProblem.isFull(cause);
        }
    }
}
