package dev.culvert.launcher.run;

import java.util.LinkedHashMap;
import java.util.Map;

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

    /** What each code means, in one clause, for the help of the commands. */
    public static Map<String, String> meanings() {
        var meanings = new LinkedHashMap<String, String>();
        meanings.put(Integer.toString(DONE), "done");
        meanings.put(Integer.toString(FAILED), "a check failed, or a server refused the request");
        meanings.put(Integer.toString(USAGE), "wrong usage");
        meanings.put(Integer.toString(UNAVAILABLE),
                "a needed server is unreachable, or a port is in use");
        meanings.put(Integer.toString(CONFIG),
                "bad configuration, a wrong admin token, or an enrolment refused for good");
        return meanings;
    }
}
