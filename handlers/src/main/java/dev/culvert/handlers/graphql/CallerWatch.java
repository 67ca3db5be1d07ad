package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Notices that the credentials of a request have ended while it is still served. Asks for its caller again
 * every few seconds, so the answer must be cheap: a look into a cache, or one read by a key.
 *
 * @param accounts determines the caller's account, as {@link GraphQlHandler} has it
 * @param pause the time between two questions
 */
record CallerWatch(Function<EdgeRequest, ? extends Mono<?>> accounts, Duration pause) {
    /** Revoked or expired credentials end a request within 5 s. */
    static final Duration PAUSE = Duration.ofSeconds(2);
    /** How often in a row it may not be known whether the credentials hold: a minute. */
    static final int MAX_UNKNOWN = 30;

    private static final Set<Reason> ENDED = Set.of(Reason.UNAUTHORIZED, Reason.FORBIDDEN, Reason.NOT_FOUND);

    /** Values until the credentials of the request end, then their failure as {@link #ended} has it. */
    <T> Flux<T> during(EdgeRequest request, Publisher<T> values) {
        return Flux.defer(() -> {
            var failure = new AtomicReference<@Nullable Throwable>();
            // takeUntilOther cancels its source when the other completes, but not when it fails
            return Flux.from(values).takeUntilOther(ended(request).onErrorResume(failed -> {
                failure.set(failed);
                return Mono.empty();
            })).concatWith(Mono.defer(() -> {
                Throwable failed = failure.get();
                return failed == null ? Mono.empty() : Mono.error(failed);
            }));
        });
    }

    /**
     * Never completes with success. Fails with a HandlerException when the credentials have ended, or it
     * could not be known for a minute.
     */
    Mono<Void> ended(EdgeRequest request) {
        return Mono.defer(() -> {
            EdgeRequest anew = request.withContext(request.context().withoutCaller());
            var unknown = new AtomicInteger();
            return Flux.interval(pause)
                    .onBackpressureDrop()
                    .concatMap(tick -> ask(anew, unknown), 0)
                    .then(Mono.never());
        });
    }

    private Mono<Void> ask(EdgeRequest request, AtomicInteger unknown) {
        return Mono.defer(() -> accounts.apply(request))
                .doOnNext(account -> unknown.set(0))
                .then()
                .onErrorResume(HandlerException.class,
                        refused -> ENDED.contains(refused.reason())
                                || unknown.incrementAndGet() >= MAX_UNKNOWN
                                        ? Mono.error(refused)
                                        : Mono.empty());
    }
}
