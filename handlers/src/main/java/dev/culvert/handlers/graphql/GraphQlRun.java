package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.EdgeRequest;
import graphql.schema.DataFetchingEnvironment;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * One request in progress: the context of its fields, and the calls to cancel when the caller disconnects.
 */
final class GraphQlRun {
    private final EdgeRequest request;
    private final Disposable.Composite calls = Disposables.composite();

    GraphQlRun(EdgeRequest request) {
        this.request = request;
    }

    static GraphQlRun of(DataFetchingEnvironment field) {
        GraphQlRun run = field.getGraphQlContext().get(GraphQlRun.class);
        if (run == null) {
            throw new IllegalStateException("each execution has its run");
        }
        return run;
    }

    String requestId() {
        return request.context().requestId();
    }

    /** Calls a root field. The returned future never completes after the run is cancelled. */
    CompletableFuture<@Nullable Object> call(GraphQlField field, DataFetchingEnvironment asked) {
        var answer = new CompletableFuture<@Nullable Object>();
        var call = new GraphQlCall(asked.getArguments(), request.headers(), request.context());
        calls.add(Mono.defer(() -> field.call(call))
                .subscribe(answer::complete, answer::completeExceptionally, () -> answer.complete(null)));
        return answer;
    }

    /** Cancels the calls in progress and prevents further ones. */
    void cancel() {
        calls.dispose();
    }
}
