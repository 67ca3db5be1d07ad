package dev.culvert.store;

import reactor.core.publisher.Mono;

/** Runs work, and the steps that follow it, to the end even if the subscriber cancels. */
public final class Uncancellable {
    private Uncancellable() {}

    /**
     * Starts {@code work} on each subscription and runs it to the end even if the subscriber cancels. Emits
     * the same value and the same errors.
     */
    public static <T> Mono<T> of(Mono<T> work) {
        return Mono.deferContextual(
                context -> Mono.fromFuture(work.contextWrite(context).toFuture(), true));
    }
}
