package dev.culvert.edge;

/** A failure that a caller is to see as a {@link Problem}. Carries no stack trace: it is an answer, not a bug. */
public final class EdgeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public EdgeException(Problem problem) {
        super(problem.cause().word() + ": " + problem.detail(), null, false, false);
        this.problem = problem;
    }

    public Problem problem() {
        return problem;
    }
}
