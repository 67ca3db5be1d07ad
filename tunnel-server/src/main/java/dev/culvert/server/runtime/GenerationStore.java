package dev.culvert.server.runtime;

import dev.culvert.store.StoreException;
import reactor.core.publisher.Mono;

/** Stores the highest tunnel generation that may have been given out. */
public interface GenerationStore {
    /**
     * Raises the mark to {@code ceiling}, unless it is that high already. Emits the previous mark, 0 at the
     * very first. The new mark is durable when the {@code Mono} emits. Errors: {@link StoreException}.
     */
    Mono<Long> raise(long ceiling);
}
