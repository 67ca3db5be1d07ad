package dev.culvert.handlers.graphql;

import reactor.core.publisher.Mono;

/** Resolves a root field. */
@FunctionalInterface
public interface GraphQlField {
    /**
     * Resolves one occurrence of the field in a document. Called on an event loop: must not block.
     *
     * @return a record, map, list or scalar whose members have the names of the fields of the schema's type;
     *     empty means null. Errors: {@link dev.culvert.handlers.spi.HandlerException} is reported to the
     *     caller, any other is an internal error
     */
    Mono<?> call(GraphQlCall call);
}
