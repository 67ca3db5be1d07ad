package dev.culvert.handlers.server;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;

/**
 * A handler's error as the caller receives it.
 *
 * @param problem the problem that the caller receives
 * @param fields further fields of the response
 * @param expected whether the handler intended the error; otherwise it is a bug, to be logged
 */
public record Failure(Problem problem, HttpHeaders fields, boolean expected) {

    /**
     * Classifies an error. An error that is neither an {@link EdgeException} nor a {@link HandlerException}
     * is a bug.
     */
    public static Failure of(Throwable error) {
        return switch (error) {
            case EdgeException e -> new Failure(e.problem(), e.fields(), true);
            case HandlerException e -> of(e);
            default -> new Failure(Problem.of(Cause.INTERNAL, Hop.EDGE, "the request could not be served"),
                    EmptyHttpHeaders.INSTANCE, false);
        };
    }

    /** The response to the request with this id. */
    EdgeResponse.Http response(String requestId) {
        ProblemDocument document = ProblemDocument.of(problem, requestId);
        EdgeResponse.Http response = EdgeResponse.Http.of(HttpResponseStatus.valueOf(document.status()),
                Problem.MEDIA_TYPE, document.body());
        document.fields().forEach(field -> response.headers().set(field.name(), field.value()));
        for (Map.Entry<String, String> field : fields) {
            response.headers().set(field.getKey(), field.getValue());
        }
        return response;
    }

    private static Failure of(HandlerException e) {
        Cause cause = switch (e.reason()) {
            case BAD_REQUEST -> Cause.BAD_REQUEST;
            case UNAUTHORIZED -> Cause.UNAUTHORIZED;
            case NOT_ALLOWED, FORBIDDEN -> Cause.NOT_ALLOWED;
            case NOT_FOUND -> Cause.NOT_FOUND;
            case METHOD_NOT_ALLOWED -> Cause.METHOD_NOT_ALLOWED;
            case CONFLICT -> Cause.CONFLICT;
            case BODY_TOO_LARGE -> Cause.BODY_TOO_LARGE;
            case REQUEST_TIMEOUT -> Cause.REQUEST_TIMEOUT;
            case RATE_LIMITED -> Cause.RATE_LIMITED;
            case OVERLOADED -> Cause.OVERLOADED;
            case DRAINING -> Cause.DRAINING;
            case UNAVAILABLE -> Cause.UNAVAILABLE;
            case STORE_UNAVAILABLE -> Cause.STORE_UNAVAILABLE;
            case UPSTREAM_TIMEOUT -> Cause.UPSTREAM_TIMEOUT;
            case UPSTREAM_BAD_RESPONSE -> Cause.UPSTREAM_BAD_RESPONSE;
        };
        Hop hop = switch (e.reason()) {
            case UPSTREAM_TIMEOUT, UPSTREAM_BAD_RESPONSE -> Hop.UPSTREAM;
            case NOT_ALLOWED -> Hop.ROUTER; // the hop on the cluster's side, which defines the policy
            default -> Hop.EDGE;
        };
        return new Failure(new Problem(cause, hop, e.detail(), e.retryAfter(), null), e.fields(), true);
    }
}
