package dev.culvert.launcher.admin;

/** Nobody answers at the address of the admin API, or not in time. Carries no stack trace: it is no bug. */
public final class AdminUnreachable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    AdminUnreachable(String message) {
        super(message, null, false, false);
    }
}
