package dev.culvert.store.postgres;

import dev.culvert.store.DatabaseServer;
import dev.culvert.store.StoreException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Tells what a failure of the server means, and describes it for operators. By SQLSTATE (PostgreSQL's
 * appendix A); what never reached the server has a state of class 08 or none.
 */
record PostgresProblem(DatabaseServer server) {
    /** 57P: shut down, crashed, not yet up; 25006: it is a replica now. */
    private static final Set<String> AWAY = Set.of("57P01", "57P02", "57P03", "57P05", "25006");
    private static final String NO_CONNECTION_LEFT = "53300";
    /** Text that the database can't keep: U+0000, or half a surrogate pair. */
    private static final Set<String> NO_TEXT = Set.of("22021", "22P05");
    /** The class of constraints. The detail of such a failure shows the row. */
    private static final String CONSTRAINT = "23";
    private static final Set<String> AGAIN = Set.of("40001", "40P01");
    private static final String DISK_FULL = "53100";
    private static final String LOCK_TIMEOUT = "55P03";
    private static final String STATEMENT_TIMEOUT = "57014";
    private static final String NO_RIGHT = "42501";
    private static final String READ_ONLY = "25006";

    /** Whether the connection or the server is gone, so that another connection may do. */
    static boolean isAway(SQLException failed) {
        String state = state(failed);
        return !isCrowded(failed) && (state.startsWith("08") || AWAY.contains(state)
                || failed instanceof SQLTransientConnectionException
                || failed instanceof SQLNonTransientConnectionException);
    }

    /** Whether there is a server but no connection: none is left at it, or all of the pool are in use. */
    static boolean isCrowded(SQLException failed) {
        return NO_CONNECTION_LEFT.equals(state(root(failed)))
                || failed instanceof SQLTransientConnectionException && failed.getCause() == null;
    }

    /** Whether the server ended the transaction for another one's sake. */
    static boolean isDeadlock(SQLException failed) {
        return AGAIN.contains(state(failed));
    }

    static boolean isReadOnly(SQLException failed) {
        return READ_ONLY.equals(state(failed));
    }

    /** The failure as the store tells it. Nothing was changed. */
    StoreException told(SQLException failed) {
        String state = state(failed);
        if (isAway(failed)) {
            return new StoreException.Away(READ_ONLY.equals(state)
                    ? server.name() + " is a replica now (expected: the primary; looking for it)"
                    : server.name() + " can't be reached: " + reason(failed) + hint(failed), failed);
        }
        if (isCrowded(failed)) {
            return new StoreException.Busy("the database has no connection left; try again later");
        }
        if (NO_TEXT.contains(state)) {
            return new StoreException.Unfit(
                    "a text has a character that the database can't keep (expected: Unicode without U+0000)");
        }
        return switch (state) {
            case LOCK_TIMEOUT, STATEMENT_TIMEOUT, "40001", "40P01" -> new StoreException.Busy(
                    "the database has too much to do, or another change holds what this one needs; try again"
                            + " later");
            case DISK_FULL -> new StoreException.Failed(server.name() + " has no space left on its disk",
                    failed);
            case NO_RIGHT -> new StoreException.Failed("the role " + server.user() + " of " + server.name()
                    + " lacks a right: " + reason(failed) + " (expected: CREATE and USAGE on the schema, and"
                    + " SELECT, INSERT, UPDATE, DELETE on its tables)", failed);
            default -> new StoreException.Failed(
                    server.name() + " failed: " + reason(failed) + hint(failed), failed);
        };
    }

    /** The failure of a commit: it may have happened. */
    StoreException.Unknown unknown(@Nullable SQLException failed) {
        return new StoreException.Unknown("the database did not confirm the change: it may have happened or"
                + " not (expected: look before repeating it, or repeat it with the same Idempotency-Key)",
                failed);
    }

    private String hint(SQLException failed) {
        return switch (state(root(failed))) {
            case "28P01", "28000" -> " (expected: user and passwordFile that the server accepts)";
            case "3D000" -> " (expected: a database that exists; create it with CREATE DATABASE)";
            default -> "";
        };
    }

    /** What the server said, in one line and without the driver's words for it. */
    static String reason(SQLException failed) {
        SQLException root = root(failed);
        if (root instanceof PSQLException told) {
            ServerErrorMessage message = told.getServerErrorMessage();
            if (message != null && message.getMessage() != null) {
                return message.getMessage()
                        + (message.getDetail() == null || state(root).startsWith(CONSTRAINT)
                                ? ""
                                : "; " + message.getDetail());
            }
        }
        Throwable cause = root.getCause();
        String text = root instanceof PSQLException && cause != null && cause.getMessage() != null
                ? cause.getMessage()
                : root.getMessage();
        return text == null ? root.getClass().getSimpleName() : text.lines().findFirst().orElse("");
    }

    /** The driver's failure within that of the pool. */
    private static SQLException root(SQLException failed) {
        SQLException root = failed;
        while (root.getCause() instanceof SQLException cause) {
            root = cause;
        }
        return root;
    }

    static String state(SQLException failed) {
        String state = failed.getSQLState();
        return state == null ? "" : state;
    }
}
