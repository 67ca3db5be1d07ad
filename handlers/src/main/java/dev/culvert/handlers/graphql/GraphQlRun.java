package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.EdgeRequest;
import graphql.schema.DataFetchingEnvironment;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/** One request that is being served: what its fields are called with, and what to cancel when its caller leaves. */
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

    /** Calls a root field. What it returns never ends once the run is cancelled. */
    CompletableFuture<@Nullable Object> call(GraphQlField field, DataFetchingEnvironment asked) {
        var answer = new CompletableFuture<@Nullable Object>();
        var call = new GraphQlCall(asked.getArguments(), request.headers(), request.context());
        calls.add(Mono.defer(() -> field.call(call))
                .subscribe(answer::complete, answer::completeExceptionally, () -> answer.complete(null)));
        return answer;
    }

    /** Cancels the calls under way; no further one is made. */
    void cancel() {
        calls.dispose();
    }
}
