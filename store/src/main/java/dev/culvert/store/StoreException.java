package dev.culvert.store;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Reports that the store refused or failed an operation. Nothing was changed unless the message states
 * otherwise.
 */
public abstract sealed class StoreException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private StoreException(String message, @Nullable Throwable cause) {
        // A refusal is an expected result and needs no stack trace; a failure has the stack trace of its
        // cause.
        super(message, cause, false, false);
    }

    /** The object to create exists already, or its host is taken. */
    public static final class Conflict extends StoreException {
        private static final long serialVersionUID = 1L;

        public Conflict(String message) {
            super(message, null);
        }
    }

    /** The object does not exist. */
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

    /** The data to read or write is of a form that the database can't keep. */
    public static final class Unfit extends StoreException {
        private static final long serialVersionUID = 1L;

        public Unfit(String message) {
            super(message, null);
        }
    }

    /** Too many changes wait, or the store is closed. A later retry may succeed. */
    public static final class Busy extends StoreException {
        private static final long serialVersionUID = 1L;

        public Busy(String message) {
            super(message, null);
        }
    }

    /**
     * Another process holds the database, or this one has released it, so this process cannot change it. The
     * message names the holder.
     */
    public static final class Held extends StoreException {
        private static final long serialVersionUID = 1L;

        public Held(String message) {
            super(message, null);
        }
    }

    /** The database can't be reached, or refuses work for now. A later retry may succeed. */
    public static final class Away extends StoreException {
        private static final long serialVersionUID = 1L;

        public Away(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The database did not say whether it committed: the change has happened, or will, or never will. Who
     * repeats it must look first.
     */
    public static final class Unknown extends StoreException {
        private static final long serialVersionUID = 1L;

        public Unknown(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The database failed, for example because the disk is full or the file is damaged. */
    public static final class Failed extends StoreException {
        private static final long serialVersionUID = 1L;
        /** PostgreSQL's state for it. */
        private static final String DISK_FULL = "53100";

        public Failed(String message, Throwable cause) {
            super(message, cause);
        }

        /** Whether the disk or the database's share of it is full. */
        public boolean isDiskFull() {
            return getCause() instanceof SQLException cause
                    && (DISK_FULL.equals(cause.getSQLState()) || DatabaseProblem.isFull(cause));
        }
    }
}
