package dev.culvert.launcher.admin;

/**
 * Reports that the admin API did not answer, or not in time. Carries no stack trace, because it is not a bug.
 */
public final class AdminUnreachable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public AdminUnreachable(String message) {
        super(message, null, false, false);
    }
}
