package dev.culvert.launcher.run;

/**
 * Ends a command with a message for the user and an exit code. Carries no stack trace, because it is not a
 * bug.
 */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public CommandException(int exitCode, String message) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    public int exitCode() {
        return exitCode;
    }
}
