package dev.culvert.server.runtime;

import reactor.core.publisher.Mono;

/** Work that its subscriber's cancel does not stop, nor what follows it. */
public final class Uncancellable {
    private Uncancellable() {}

    /** Begins {@code work} with each subscription and lets it end whatever becomes of the subscriber. Same answer, same errors. */
    public static <T> Mono<T> of(Mono<T> work) {
        return Mono.deferContextual(
                context -> Mono.fromFuture(work.contextWrite(context).toFuture(), true));
    }
}
