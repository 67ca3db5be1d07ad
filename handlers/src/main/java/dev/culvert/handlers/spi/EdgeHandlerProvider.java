package dev.culvert.handlers.spi;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A pluggable handler, found by {@link java.util.ServiceLoader}. Life cycle: discover, read configuration,
 * {@link #create}, {@link #start}, serve, {@link #stop}.
 */
public interface EdgeHandlerProvider {
    /** The name of the handler, also its configuration key: {@code handlers.<name>}. */
    String name();

    /**
     * The paths that the handler serves. {@code /app-proxy/git/} matches {@code /app-proxy/git} and all paths
     * below; without a slash at its end a mount matches that path alone. No two handlers may have the same
     * one. None for a handler that is reachable only through GraphQL.
     */
    default List<String> mounts() {
        return List.of();
    }

    /** Creates the handler. Validates its configuration; does no IO and starts no threads. */
    EdgeHandler create(HandlerContext context);

    /**
     * The services that this provider offers to the other handlers, by interface. Each service is created at
     * most once, at the first call of {@link HandlerContext#service}, with this handler's own context. It may
     * use services of other providers. Providers of services are started before their users and stopped after
     * them.
     */
    default Map<Class<?>, Function<HandlerContext, ?>> services() {
        return Map.of();
    }

    /** The default limits, which the operator can override. */
    default HandlerLimits limits() {
        return HandlerLimits.defaults();
    }

    /** Prepares to serve. An error prevents the service from starting. Completes empty. */
    default Mono<Void> start() {
        return Mono.empty();
    }

    /** Finishes calls in progress within {@code grace}, then frees all resources. Completes empty. */
    default Mono<Void> stop(Duration grace) {
        return Mono.empty();
    }
}
