package dev.culvert.server;

import reactor.core.publisher.Mono;

/** Work that its subscriber's cancel does not stop, nor what follows it. */
final class Detached {
    private Detached() {}

    /** Begins {@code work} with each subscription and lets it end whatever becomes of the subscriber. Same answer, same errors. */
    static <T> Mono<T> of(Mono<T> work) {
        return Mono.deferContextual(
                context -> Mono.fromFuture(work.contextWrite(context).toFuture(), true));
    }
}
