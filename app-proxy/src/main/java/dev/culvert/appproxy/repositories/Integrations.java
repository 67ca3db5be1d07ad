package dev.culvert.appproxy.repositories;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The configured Git providers. */
public interface Integrations {
    /**
     * The integration with a name; null: the first one.
     *
     * @throws dev.culvert.handlers.spi.HandlerException NOT_FOUND when there is no such integration
     */
    Integration of(@Nullable String name);

    /** All of them, in the order of the configuration; the first is the default. */
    List<Integration> all();
}
