package dev.culvert.handlers.spi;

import reactor.core.publisher.Mono;

/** Wraps a handler: answers in its place, changes the request on its way in, or the response on its way out. */
@FunctionalInterface
public interface EdgeFilter {
    /** Answers {@code request} itself, or by {@code next}. Errors and cancellation as in {@link EdgeHandler}. */
    Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next);

    /** This filter in front of {@code handler}. */
    default EdgeHandler before(EdgeHandler handler) {
        return request -> filter(request, handler);
    }
}
