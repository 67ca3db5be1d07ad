package dev.culvert.handlers.spi;

import reactor.core.publisher.Mono;

/**
 * Answers a request. Called on an event loop: it must not block.
 *
 * <p>The returned {@code Mono} emits one response. It fails with a {@link HandlerException} for what the caller is to
 * be told; any other error is logged and answered as a fault of the gateway, and so is an empty one. It is cancelled
 * when the caller goes away before the response's head; the response's body is cancelled when that happens later.
 */
@FunctionalInterface
public interface EdgeHandler {
    /** Answers {@code request}. Errors: {@link HandlerException}. Never empty. */
    Mono<EdgeResponse> handle(EdgeRequest request);
}
