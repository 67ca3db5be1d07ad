package dev.culvert.http.problem;

import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;

/** A failure that a caller is to see as a {@link Problem}. Carries no stack trace: it is an answer, not a bug. */
public final class EdgeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;
    private final transient HttpHeaders fields;

    public EdgeException(Problem problem) {
        this(problem, EmptyHttpHeaders.INSTANCE);
    }

    /** A problem whose response carries further fields, as {@code Allow} or {@code WWW-Authenticate}. */
    public EdgeException(Problem problem, HttpHeaders fields) {
        super(problem.cause().word() + ": " + problem.detail(), null, false, false);
        this.problem = problem;
        this.fields = fields;
    }

    public Problem problem() {
        return problem;
    }

    /** Further fields of the response, beside the problem's own. */
    public HttpHeaders fields() {
        return fields;
    }
}
