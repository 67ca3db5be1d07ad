package dev.culvert.launcher.run;

/** The exit codes of the process (product.md "Commands"). Scripts rely on the numbers. */
public final class ExitCode {
    public static final int DONE = 0;
    /** A check failed, or a server refused the request. */
    public static final int FAILED = 1;
    /** The command line is wrong (EX_USAGE). */
    public static final int USAGE = 64;
    /** A needed server is unreachable, or a port is in use (EX_UNAVAILABLE). */
    public static final int UNAVAILABLE = 69;
    /**
     * The configuration is invalid, the admin token is wrong, or an enrolment was refused for good
     * (EX_CONFIG).
     */
    public static final int CONFIG = 78;

    private ExitCode() {}
}
