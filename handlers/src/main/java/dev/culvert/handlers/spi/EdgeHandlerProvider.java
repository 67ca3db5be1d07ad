package dev.culvert.handlers.spi;

import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A pluggable handler, found by {@link java.util.ServiceLoader}. Life: discover, read configuration, {@link #create},
 * {@link #start}, serve, {@link #stop}.
 */
public interface EdgeHandlerProvider {
    /** Its name, also its configuration key: {@code handlers.<name>}. */
    String name();

    /**
     * The path prefix it answers, as {@code /app-proxy/git/}: matches {@code /app-proxy/git} and all below. Null for a
     * handler that is reached through GraphQL alone.
     */
    @Nullable
    String mount();

    /** Makes the handler. Validates its configuration; no IO, no threads. */
    EdgeHandler create(HandlerContext context);

    /**
     * What it offers to the part's other handlers, by interface. Each is made at most once, when somebody asks {@link
     * HandlerContext#service} for it, with this handler's own context; it may ask for services of others in turn. Those
     * who offer are started before, and stopped after, those who asked.
     */
    default Map<Class<?>, Function<HandlerContext, ?>> services() {
        return Map.of();
    }

    /** What it may use unless the operator says otherwise. */
    default HandlerLimits limits() {
        return HandlerLimits.defaults();
    }

    /** Gets ready to serve. Errors stop the part from starting. Completes empty. */
    default Mono<Void> start() {
        return Mono.empty();
    }

    /** Finishes what is in flight within {@code grace}, then frees everything. Completes empty. */
    default Mono<Void> stop(Duration grace) {
        return Mono.empty();
    }
}
