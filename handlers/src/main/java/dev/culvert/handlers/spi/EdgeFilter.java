package dev.culvert.handlers.spi;

import reactor.core.publisher.Mono;

/** Wraps a handler. A filter can answer in its place, change the request, or change the response. */
@FunctionalInterface
public interface EdgeFilter {
    /**
     * Answers {@code request} itself or calls {@code next}. Errors and cancellation as in {@link
     * EdgeHandler}.
     */
    Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next);

    /** Wraps {@code handler} with this filter. */
    default EdgeHandler before(EdgeHandler handler) {
        return request -> filter(request, handler);
    }
}
