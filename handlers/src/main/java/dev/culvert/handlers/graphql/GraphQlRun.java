package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import graphql.schema.DataFetchingEnvironment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * One request in progress: the context of its fields, the memory of its answer, and the calls to cancel when
 * the caller disconnects.
 */
final class GraphQlRun {
    private final EdgeRequest request;
    private final AnswerBudget budget;
    private final Disposable.Composite calls = Disposables.composite();

    GraphQlRun(EdgeRequest request, AnswerBudget budget) {
        this.request = request;
        this.budget = budget;
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

    AnswerBudget budget() {
        return budget;
    }

    /** Calls a root field. The returned future never completes after the run is cancelled. */
    CompletableFuture<@Nullable Object> call(GraphQlField field, DataFetchingEnvironment asked) {
        var answer = new CompletableFuture<@Nullable Object>();
        var loaded = new Loaded();
        var call = new GraphQlCall(asked.getArguments(), request.headers(), request.context(), loaded::claim);
        calls.add(Mono.defer(() -> field.call(call))
                .doFinally(signal -> loaded.free())
                .subscribe(value -> complete(answer, value), answer::completeExceptionally,
                        () -> answer.complete(null)));
        return answer;
    }

    /** Opens the stream of a subscription. The memory of its values is counted as they are rendered. */
    Publisher<?> open(GraphQlStream stream, DataFetchingEnvironment asked) {
        return stream.open(new GraphQlCall(asked.getArguments(), request.headers(), request.context()));
    }

    /** Completes the field and all below it; then nothing else refers to what was loaded for it. */
    private void complete(CompletableFuture<@Nullable Object> answer, Object value) {
        try {
            budget.keep(FieldWeights.of(value));
        } catch (HandlerException e) {
            answer.completeExceptionally(e);
            return;
        }
        answer.complete(value);
    }

    /** Cancels the calls in progress and prevents further ones. */
    void cancel() {
        calls.dispose();
    }

    /** What one call has claimed for what it loads. */
    private final class Loaded {
        private static final long FREED = -1;

        /** Not guarded by a lock: a claim may cancel runs of others. */
        private final AtomicLong bytes = new AtomicLong();

        void claim(long more) {
            budget.load(more);
            if (bytes.updateAndGet(now -> now == FREED ? FREED : now + more) == FREED) {
                budget.loaded(more);
                throw HandlerException.of(HandlerException.Reason.OVERLOADED, "the call has ended");
            }
        }

        void free() {
            long held = bytes.getAndSet(FREED);
            if (held > 0) {
                budget.loaded(held);
            }
        }
    }
}
