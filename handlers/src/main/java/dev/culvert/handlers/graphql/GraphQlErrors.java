package dev.culvert.handlers.graphql;

import dev.culvert.handlers.server.Failure;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.problem.Problem;
import graphql.GraphQLError;
import graphql.GraphqlErrorBuilder;
import graphql.execution.DataFetcherExceptionHandler;
import graphql.execution.DataFetcherExceptionHandlerParameters;
import graphql.execution.DataFetcherExceptionHandlerResult;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renders errors as {@code {message, path, extensions: {code, status, type, requestId}}}, with the codes and
 * types of problems.
 */
final class GraphQlErrors implements DataFetcherExceptionHandler {
    private static final Logger LOG = LoggerFactory.getLogger(GraphQlErrors.class);

    /** Renders the error of a field for the caller. The text of an unexpected error is only logged. */
    @Override
    public CompletableFuture<DataFetcherExceptionHandlerResult> handleException(
            DataFetcherExceptionHandlerParameters failed) {
        Throwable error = failed.getException();
        while (error instanceof CompletionException && error.getCause() != null) {
            error = error.getCause();
        }
        GraphQlRun run = GraphQlRun.of(failed.getDataFetchingEnvironment());
        Failure failure = Failure.of(error);
        if (!failure.expected()) {
            LOG.atError()
                    .setCause(error)
                    .addKeyValue("requestId", run.requestId())
                    .addKeyValue("field", failed.getPath().toString())
                    .log("GraphQL field failed");
        }
        GraphQLError told = GraphqlErrorBuilder.newError()
                .message("%s", failure.problem().detail())
                .location(failed.getSourceLocation())
                .path(failed.getPath())
                .extensions(extensions(failure.problem(), run.requestId()))
                .build();
        return CompletableFuture
                .completedFuture(DataFetcherExceptionHandlerResult.newResult(told).build());
    }

    /** What ended a subscription. The text of an unexpected error is only logged. */
    static Map<String, Object> ended(Throwable error, String requestId) {
        Failure failure = Failure.of(error);
        if (!failure.expected()) {
            LOG.atError().setCause(error).addKeyValue("requestId", requestId).log("subscription failed");
        }
        return Map.of("message", failure.problem().detail(), "extensions",
                extensions(failure.problem(), requestId));
    }

    /** An error of the request as a whole, without a path. */
    static Map<String, Object> refused(String detail, String requestId) {
        Problem problem = Failure.of(HandlerException.of(HandlerException.Reason.BAD_REQUEST, detail))
                .problem();
        return Map.of("message", detail, "extensions", extensions(problem, requestId));
    }

    /** Renders an error as the specification requires. The library's own errors are faults of the request. */
    static Map<String, Object> rendered(GraphQLError error, String requestId) {
        Map<String, Object> members = new LinkedHashMap<>(error.toSpecification());
        Map<String, Object> own = error.getExtensions();
        if (own != null && own.containsKey("status")) {
            members.put("extensions", own); // without the library's own extensions
            return members;
        }
        boolean ours = error.getPath() != null; // a field returned a value that its type does not allow
        Problem problem = ours
                ? Failure.of(new IllegalStateException("the answer does not fit the schema")).problem()
                : Failure.of(HandlerException.of(HandlerException.Reason.BAD_REQUEST, error.getMessage()))
                        .problem();
        members.put("message", problem.detail());
        members.put("extensions", extensions(problem, requestId));
        return members;
    }

    private static Map<String, Object> extensions(Problem problem, String requestId) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("code", problem.cause().word());
        members.put("status", problem.cause().status());
        members.put("type", problem.cause().type());
        members.put("requestId", requestId);
        if (problem.retryAfterSeconds() > 0) {
            members.put("retryAfterSeconds", problem.retryAfterSeconds());
        }
        return members;
    }
}
