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
 * Hosts the handlers of a part: makes them in an order that suits the services they ask each other for, mounts them, joins
 * their GraphQL functions, and keeps each to its limits. Owns their lives. A handler that blocks, throws, hangs or is flooded
 * uses up its own threads and calls, and nothing of the others. Safe for use by any thread.
 */
public final class HandlerHost implements EdgeHandler {
    private static final String GRAPHQL = "graphql";
    /** More than have room in memory while they arrive, which callers share: this bound they would not. */
    private static final int MAX_DOCUMENTS = 8192;
    /** For a handler that ends at its grace what it could not finish. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private final List<EdgeHandlerProvider> order;
    private final SequencedMap<EdgeHandlerProvider, HandlerGuard> guards;
    private final List<HandlerGuard> all;
    private final Mounts mounts;

    /**
     * Creates every provider's handler. Throws IllegalArgumentException for a mount that does not start and end with a slash,
     * or that two share, and for services or schemas that do not fit; and what a provider throws for its configuration.
     */
    public HandlerHost(Setup setup) {
        var assembly = new HandlerAssembly(setup);
        order = List.copyOf(assembly.order());
        guards = assembly.guards();
        all = new ArrayList<>(guards.values());
        List<Mount> places = new ArrayList<>(assembly.mounts());
        String mount = setup.graphQlMount();
        if (mount != null && !assembly.functions().isEmpty()) {
            // Its calls wait for those of functions, which have limits of their own: its limit is beyond theirs.
            var guard = new HandlerGuard(GRAPHQL,
                    setup.limits().apply(GRAPHQL, new HandlerLimits(MAX_DOCUMENTS, Duration.ZERO, 4)),
                    setup.registry());
            var handler = new GraphQlHandler(assembly.functions(), GraphQlLimits.defaults(),
                    Schedulers.immediate(), setup.accounts());
            places.add(new Mount(GRAPHQL, mount, guard.around(handler)));
            all.add(guard);
        }
        mounts = new Mounts(places);
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        return mounts.handle(request);
    }

    /** The handlers that count as failing, with the reason for an operator; empty when all do their work. */
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

    /** Starts all providers, one after the other. Fails as the first of them fails, after stopping the others. */
    public Mono<Void> start() {
        return Flux.fromIterable(order)
                .concatMap(EdgeHandlerProvider::start)
                .then()
                .onErrorResume(error -> stop(Duration.ZERO).then(Mono.error(error)));
    }

    /**
     * Stops those that offer nothing at the same time, then those that offer services, the last one first; then ends all
     * threads. One that fails, or takes longer than {@code grace} and {@link #PATIENCE}, does not keep the others from
     * stopping.
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
     * What a host needs.
     *
     * @param providers whose handlers it hosts
     * @param contexts what the part tells each of them
     * @param limits what a handler may use, from its name and what it asks for
     * @param registry where their figures are shown
     * @param graphQlMount where functions are joined, or null: nowhere
     * @param accounts who calls, as {@link GraphQlHandler} asks for it
     */
    public record Setup(List<? extends EdgeHandlerProvider> providers,
            Function<EdgeHandlerProvider, HandlerContext> contexts,
            BiFunction<String, HandlerLimits, HandlerLimits> limits, MeterRegistry registry,
            @Nullable String graphQlMount, Function<EdgeRequest, ? extends Mono<?>> accounts) {
        public Setup {
            providers = List.copyOf(providers);
        }

        /** Where callers are told apart by the address that they come from. */
        public Setup(List<? extends EdgeHandlerProvider> providers,
                Function<EdgeHandlerProvider, HandlerContext> contexts,
                BiFunction<String, HandlerLimits, HandlerLimits> limits, MeterRegistry registry,
                @Nullable String graphQlMount) {
            this(providers, contexts, limits, registry, graphQlMount,
                    request -> Mono.just(SourceAddress.of(request.context().source())));
        }
    }
}
