package dev.culvert.benchmarks;

/** Reports that a measurement is impossible or invalid. */
final class BenchException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int FAILED = 1;
    private static final int UNAVAILABLE = 69;

    private final int exitCode;

    private BenchException(String message, int exitCode) {
        super(message);
        this.exitCode = exitCode;
    }

    /** Signals a failed run, whose figures are invalid. */
    static BenchException failed(String message) {
        return new BenchException(message, FAILED);
    }

    /** A program or system is missing. */
    static BenchException unavailable(String message) {
        return new BenchException(message, UNAVAILABLE);
    }

    int exitCode() {
        return exitCode;
    }
}
