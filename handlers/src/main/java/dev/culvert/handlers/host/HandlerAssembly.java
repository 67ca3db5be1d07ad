package dev.culvert.handlers.host;

import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.host.Mounts.Mount;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.HandlerContext;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Creates the handlers of a host and the services that they request from each other. Used once, by one
 * thread.
 */
final class HandlerAssembly {
    private final HandlerHost.Setup setup;
    private final Map<Class<?>, Offer> offers = new LinkedHashMap<>();
    private final Map<Class<?>, Object> services = new LinkedHashMap<>();
    private final SequencedSet<Class<?>> beingMade = new LinkedHashSet<>();
    private final SequencedMap<EdgeHandlerProvider, HandlerGuard> guards = new LinkedHashMap<>();
    private final SequencedSet<EdgeHandlerProvider> order = new LinkedHashSet<>();
    private final List<Mount> mounts = new ArrayList<>();
    private final List<GraphQlFunction> functions = new ArrayList<>();
    private final Map<String, String> fieldOwners = new HashMap<>();

    HandlerAssembly(HandlerHost.Setup setup) {
        this.setup = setup;
        for (EdgeHandlerProvider provider : setup.providers()) {
            guards.put(provider,
                    new HandlerGuard(provider.name(),
                            setup.limits().apply(provider.name(), provider.limits()), setup.registry()));
            provider.services().forEach((type, factory) -> {
                if (offers.put(type, new Offer(provider, factory)) != null) {
                    throw new IllegalArgumentException(
                            "handler " + provider.name() + ": another one offers " + type.getName());
                }
            });
        }
        setup.providers().forEach(this::make);
    }

    /** The providers in start order: those that offer services precede those that use them. */
    SequencedSet<EdgeHandlerProvider> order() {
        return order;
    }

    SequencedMap<EdgeHandlerProvider, HandlerGuard> guards() {
        return guards;
    }

    List<Mount> mounts() {
        return mounts;
    }

    List<GraphQlFunction> functions() {
        return functions;
    }

    private void make(EdgeHandlerProvider provider) {
        EdgeHandler handler = provider.create(new Context(provider, setup.contexts().apply(provider)));
        HandlerGuard guard = guard(provider);
        EdgeHandler guarded = guard.around(handler);
        provider.mounts().forEach(mount -> mounts.add(new Mount(provider.name(), mount, guarded)));
        if (handler instanceof GraphQlFunction function) {
            requireFree(provider.name(), function);
            functions.add(guard.around(function));
        }
        order.add(provider);
    }

    /** Throws if another handler answers one of the function's root fields. */
    private void requireFree(String name, GraphQlFunction function) {
        List<String> claimed = new ArrayList<>(function.fields().keySet());
        claimed.addAll(function.streams().keySet());
        for (String field : claimed) {
            String other = fieldOwners.putIfAbsent(field, name);
            if (other != null) {
                throw new IllegalArgumentException("handlers " + other + " and " + name
                        + " both answer the GraphQL field " + field + " (expected: one of them)");
            }
        }
    }

    private HandlerGuard guard(EdgeHandlerProvider provider) {
        HandlerGuard guard = guards.get(provider);
        if (guard == null) {
            throw new IllegalStateException("each provider has its guard");
        }
        return guard;
    }

    private <S> S service(EdgeHandlerProvider asking, HandlerContext part, Class<S> type) {
        if (type == Scheduler.class) {
            return type.cast(guard(asking).scheduler());
        }
        if (type == MeterRegistry.class) {
            return type.cast(setup.registry());
        }
        return offers.containsKey(type) ? service(type) : part.service(type);
    }

    /**
     * The service of a handler, created at the first call. Throws IllegalArgumentException if none offers it.
     */
    <S> S service(Class<S> type) {
        Offer offer = offers.get(type);
        if (offer == null) {
            throw new IllegalArgumentException("no handler offers " + type.getName());
        }
        Object made = services.get(type);
        if (made == null) {
            if (!beingMade.add(type)) {
                throw new IllegalArgumentException("services that need each other: " + beingMade);
            }
            made = offer.factory.apply(new Context(offer.provider, setup.contexts().apply(offer.provider)));
            beingMade.remove(type);
            services.put(type, made);
            order.add(offer.provider);
        }
        return type.cast(made);
    }

    private record Offer(EdgeHandlerProvider provider, Function<HandlerContext, ?> factory) {}

    /** The context of the service, extended by the host. */
    private final class Context implements HandlerContext {
        private final EdgeHandlerProvider provider;
        private final HandlerContext part;

        Context(EdgeHandlerProvider provider, HandlerContext part) {
            this.provider = provider;
            this.part = part;
        }

        @Override
        public <T extends Record> T settings(Class<T> type) {
            return part.settings(type);
        }

        @Override
        public <S> S service(Class<S> type) {
            S service = HandlerAssembly.this.service(provider, part, type);
            return type == Scheduler.class
                    ? service
                    : ServiceThreads.around(type, service, guard(provider).scheduler());
        }

        @Override
        public String version() {
            return part.version();
        }

        @Override
        public @Nullable String runtime() {
            return part.runtime();
        }

        @Override
        public List<String> handlers() {
            return part.handlers();
        }
    }
}
