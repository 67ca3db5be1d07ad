package dev.culvert.launcher;

/** Ends a command with a message for its user and an exit code; no stack trace, for it is no bug. */
final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    CommandException(int exitCode, String message) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
