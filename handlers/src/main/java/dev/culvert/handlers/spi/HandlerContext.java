package dev.culvert.handlers.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The context that the hosting service gives to a handler. */
public interface HandlerContext {
    /**
     * The handler's own configuration, {@code handlers.<name>}. Throws IllegalArgumentException if the
     * service binds another type for this handler.
     */
    <T extends Record> T settings(Class<T> type);

    /**
     * An object that the hosting service or another handler offers, by its interface. {@code Scheduler.class}
     * is this handler's own bounded pool for blocking work, which ends with the handler. {@code
     * io.micrometer.core.instrument.MeterRegistry.class} is the registry of the hosting service. Throws
     * IllegalArgumentException if the type is not offered.
     */
    <S> S service(Class<S> type);

    /** The version of the hosting service. */
    String version();

    /** The runtime that the hosting service serves, {@code account/name}; null if it is unknown. */
    @Nullable
    String runtime();

    /** The names of all handlers of the hosting service, in alphabetical order. */
    List<String> handlers();
}
