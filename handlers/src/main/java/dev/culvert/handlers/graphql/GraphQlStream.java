package dev.culvert.handlers.graphql;

import reactor.core.publisher.Flux;

/** Answers a field of {@code Subscription}. */
@FunctionalInterface
public interface GraphQlStream {
    /**
     * Opens the stream for one caller. Called on an event loop: must not block. Values are as those of {@link
     * GraphQlField}, demanded at the caller's pace: a source that does not wait must drop or end. It is
     * cancelled when the caller leaves. Errors end the stream: {@link
     * dev.culvert.handlers.spi.HandlerException} is reported to the caller, any other is an internal error.
     */
    Flux<?> open(GraphQlCall call);
}
