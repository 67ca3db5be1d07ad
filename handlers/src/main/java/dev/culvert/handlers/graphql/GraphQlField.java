package dev.culvert.handlers.graphql;

import reactor.core.publisher.Mono;

/** Answers a root field. */
@FunctionalInterface
public interface GraphQlField {
    /**
     * Answers one occurrence of the field in a document. Called on an event loop: never blocks.
     *
     * @return a record, map, list or scalar whose members are named as the fields of the schema's type; empty is null.
     *     Errors: {@link dev.culvert.handlers.spi.HandlerException} is told to the caller, anything else is an internal error
     */
    Mono<?> call(GraphQlCall call);
}
