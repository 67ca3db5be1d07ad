package dev.culvert.handlers.host;

import dev.culvert.handlers.graphql.GraphQlHandler;
import dev.culvert.handlers.graphql.GraphQlLimits;
import dev.culvert.handlers.host.Mounts.Mount;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.http.quota.SourceAddress;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Hosts the handlers of a service. Creates them in the order of their dependencies, mounts them, joins their
 * GraphQL functions and enforces the limits of each. Owns their life cycles. A handler that blocks, throws,
 * hangs or is flooded exhausts only its own threads and calls. Safe for use by any thread.
 */
public final class HandlerHost implements EdgeHandler {
    private static final String GRAPHQL = "graphql";
    /**
     * The limit of concurrent GraphQL requests. It exceeds the number of bodies that fit into the memory
     * quota. The quota is shared fairly among callers; this limit would not be.
     */
    private static final int MAX_DOCUMENTS = 8192;
    /** Additional time for a handler that aborts unfinished work at the end of its grace. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private final HandlerAssembly assembly;
    private final @Nullable String graphQlSchema;
    private final List<EdgeHandlerProvider> order;
    private final SequencedMap<EdgeHandlerProvider, HandlerGuard> guards;
    private final List<HandlerGuard> all;
    private final Mounts mounts;

    /**
     * Creates the handler of every provider. Throws IllegalArgumentException for a mount that does not start
     * and end with a slash, for a mount that two handlers share, and for services or schemas that conflict.
     * Also throws the exceptions of a provider that refuses its configuration.
     */
    public HandlerHost(Setup setup) {
        assembly = new HandlerAssembly(setup);
        order = List.copyOf(assembly.order());
        guards = assembly.guards();
        all = new ArrayList<>(guards.values());
        List<Mount> places = new ArrayList<>(assembly.mounts());
        String mount = setup.graphQlMount();
        if (mount != null && !assembly.functions().isEmpty()) {
            // GraphQL calls wait for the calls of functions, which have their own limits, so the limit here
            // is higher.
            var guard = new HandlerGuard(GRAPHQL,
                    setup.limits().apply(GRAPHQL, new HandlerLimits(MAX_DOCUMENTS, Duration.ZERO, 4)),
                    setup.registry());
            var handler = new GraphQlHandler(assembly.functions(), setup.graphQlLimits(),
                    Schedulers.immediate(), setup.accounts());
            places.add(new Mount(GRAPHQL, mount, guard.around(handler)));
            all.add(guard);
            graphQlSchema = handler.schemaText();
        } else {
            graphQlSchema = null;
        }
        mounts = new Mounts(places);
    }

    /**
     * A service that one of the handlers offers, for the hosting service itself. Throws
     * IllegalArgumentException if none offers it.
     */
    public <S> S service(Class<S> type) {
        return assembly.service(type);
    }

    /** The joined schema in GraphQL's schema language; null without functions. */
    public @Nullable String graphQlSchema() {
        return graphQlSchema;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return mounts.handle(request);
    }

    /** The failing handlers with their reasons, for an operator. Empty if all are healthy. */
    public SortedMap<String, String> troubles() {
        SortedMap<String, String> troubles = new TreeMap<>();
        for (HandlerGuard guard : all) {
            String trouble = guard.trouble();
            if (trouble != null) {
                troubles.put(guard.name(), trouble);
            }
        }
        return troubles;
    }

    /**
     * Starts all providers one after the other. Fails with the first error, after stopping the other
     * providers.
     */
    public Mono<Void> start() {
        return Flux.fromIterable(order)
                .concatMap(EdgeHandlerProvider::start)
                .then()
                .onErrorResume(error -> stop(Duration.ZERO).then(Mono.error(error)));
    }

    /**
     * Stops the providers without services concurrently, then those with services in reverse order, then all
     * threads. A provider that fails, or takes longer than {@code grace} plus {@link #PATIENCE}, does not
     * prevent the others from stopping.
     */
    public Mono<Void> stop(Duration grace) {
        Mono<Void> users = Mono.whenDelayError(order.stream()
                .filter(provider -> provider.services().isEmpty())
                .map(provider -> stopped(provider, grace))
                .toList());
        Mono<Void> offering = Flux.fromIterable(order.reversed())
                .filter(provider -> !provider.services().isEmpty())
                .concatMapDelayError(provider -> stopped(provider, grace))
                .then();
        return Flux.concatDelayError(users, offering)
                .then()
                .doFinally(signal -> all.forEach(HandlerGuard::stop));
    }

    private static Mono<Void> stopped(EdgeHandlerProvider provider, Duration grace) {
        return Mono.defer(() -> provider.stop(grace)).timeout(grace.plus(PATIENCE));
    }

    /**
     * The parameters of a host.
     *
     * @param providers the providers of the handlers
     * @param contexts the context that the service gives to each provider
     * @param limits the limits of a handler, from its name and the limits that it requests
     * @param registry the registry for the handlers' meters
     * @param graphQlMount the mount of the joined functions, or null for no GraphQL
     * @param graphQlLimits the limits of GraphQL
     * @param accounts determines the caller's account, as {@link GraphQlHandler} requires
     */
    public record Setup(List<? extends EdgeHandlerProvider> providers,
            Function<EdgeHandlerProvider, HandlerContext> contexts,
            BiFunction<String, HandlerLimits, HandlerLimits> limits, MeterRegistry registry,
            @Nullable String graphQlMount, GraphQlLimits graphQlLimits,
            Function<EdgeRequest, ? extends Mono<?>> accounts) {
        public Setup {
            providers = List.copyOf(providers);
        }

        /** A setup with the usual limits. */
        public Setup(List<? extends EdgeHandlerProvider> providers,
                Function<EdgeHandlerProvider, HandlerContext> contexts,
                BiFunction<String, HandlerLimits, HandlerLimits> limits, MeterRegistry registry,
                @Nullable String graphQlMount, Function<EdgeRequest, ? extends Mono<?>> accounts) {
            this(providers, contexts, limits, registry, graphQlMount, GraphQlLimits.defaults(), accounts);
        }

        /** A setup with the usual limits that identifies callers by their source address. */
        public Setup(List<? extends EdgeHandlerProvider> providers,
                Function<EdgeHandlerProvider, HandlerContext> contexts,
                BiFunction<String, HandlerLimits, HandlerLimits> limits, MeterRegistry registry,
                @Nullable String graphQlMount) {
            this(providers, contexts, limits, registry, graphQlMount, GraphQlLimits.defaults(),
                    request -> Mono.just(SourceAddress.of(request.context().source())));
        }
    }
}
