package dev.culvert.http.problem;

import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;

/**
 * A failure that the caller receives as a {@link Problem}. Carries no stack trace, because it is a response
 * and not a bug.
 */
public final class EdgeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;
    private final transient HttpHeaders fields;

    public EdgeException(Problem problem) {
        this(problem, EmptyHttpHeaders.INSTANCE);
    }

    /** A problem whose response has further fields, for example {@code Allow} or {@code WWW-Authenticate}. */
    public EdgeException(Problem problem, HttpHeaders fields) {
        super(problem.cause().word() + ": " + problem.detail(), null, false, false);
        this.problem = problem;
        this.fields = fields;
    }

    public Problem problem() {
        return problem;
    }

    /** Further fields of the response, in addition to the problem's own. */
    public HttpHeaders fields() {
        return fields;
    }
}
