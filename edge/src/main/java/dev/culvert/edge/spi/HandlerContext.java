package dev.culvert.edge.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the part that hosts a handler tells it. */
public interface HandlerContext {
    /**
     * The handler's own configuration, {@code handlers.<name>}. Throws IllegalArgumentException if the part binds
     * another type for this handler.
     */
    <T extends Record> T settings(Class<T> type);

    /** What the part offers to its handlers, by its interface. Throws IllegalArgumentException where it offers no such thing. */
    <S> S service(Class<S> type);

    /** The version of the hosting part. */
    String version();

    /** The runtime that the part serves, {@code account/name}; null when it was not told. */
    @Nullable
    String runtime();

    /** The names of all handlers of the part, in the order of the alphabet. */
    List<String> handlers();
}
