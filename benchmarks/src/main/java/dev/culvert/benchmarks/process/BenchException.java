package dev.culvert.benchmarks.process;

/** Reports that a measurement is impossible or invalid. Its exit code is that of the command. */
public final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int FAILED = 1;
    private static final int UNAVAILABLE = 69;
    private static final int CONFIG = 78;

    private final int exitCode;

    private BenchException(String message, int exitCode) {
        super(message);
        this.exitCode = exitCode;
    }

    /** Signals a failed run, whose figures are invalid. */
    public static BenchException failed(String message) {
        return new BenchException(message, FAILED);
    }

    /** A program or system is missing. */
    public static BenchException unavailable(String message) {
        return new BenchException(message, UNAVAILABLE);
    }

    /** A scenario file is invalid. */
    public static BenchException config(String message) {
        return new BenchException(message, CONFIG);
    }

    public int exitCode() {
        return exitCode;
    }
}
