package dev.culvert.handlers.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the part that hosts a handler tells it. */
public interface HandlerContext {
    /**
     * The handler's own configuration, {@code handlers.<name>}. Throws IllegalArgumentException if the part binds
     * another type for this handler.
     */
    <T extends Record> T settings(Class<T> type);

    /**
     * What the part, or another of its handlers, offers; by its interface. {@code Scheduler.class} is this handler's own bounded
     * pool, for work that blocks; it ends with the handler. {@code io.micrometer.core.instrument.MeterRegistry.class} is where the
     * part's figures are. Throws IllegalArgumentException where nobody offers such a thing.
     */
    <S> S service(Class<S> type);

    /** The version of the hosting part. */
    String version();

    /** The runtime that the part serves, {@code account/name}; null when it was not told. */
    @Nullable
    String runtime();

    /** The names of all handlers of the part, in the order of the alphabet. */
    List<String> handlers();
}
