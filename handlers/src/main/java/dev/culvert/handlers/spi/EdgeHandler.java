package dev.culvert.handlers.spi;

import reactor.core.publisher.Mono;

/**
 * Answers a request. Called on an event loop: it must not block.
 *
 * <p>The returned {@code Mono} emits one response. It fails with a {@link HandlerException} for errors that
 * the caller should receive. Any other error, and an empty {@code Mono}, is logged and answered as an
 * internal error of the gateway. The {@code Mono} is cancelled when the caller disconnects before the
 * response's head; later the response's body is cancelled.
 */
@FunctionalInterface
public interface EdgeHandler {
    /** Answers {@code request}. Errors: {@link HandlerException}. Never empty. */
    Mono<EdgeResponse> handle(EdgeRequest request);
}
