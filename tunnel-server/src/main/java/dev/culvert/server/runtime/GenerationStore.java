package dev.culvert.server.runtime;

import dev.culvert.store.StoreException;
import reactor.core.publisher.Mono;

/** Keeps how far tunnel generations were given out, for good. */
public interface GenerationStore {
    /**
     * Raises the mark to {@code ceiling}, unless it is there already, and emits the mark as it was before, 0 at the very
     * first; durable when it emits. Errors: {@link StoreException}.
     */
    Mono<Long> raise(long ceiling);
}
