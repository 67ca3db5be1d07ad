package dev.culvert.edge;

import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeHandlerProvider;
import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Handlers at their mounts: the longest mount that a request's path lies in answers it. Paths are compared raw; those
 * that would need normalising are refused with 400. Owns the life of its providers.
 */
public final class MountedHandlers implements EdgeHandler {
    private final List<Mount> mounts;

    private MountedHandlers(List<Mount> mounts) {
        this.mounts = mounts;
    }

    /**
     * Creates every provider's handler. Throws IllegalArgumentException for a mount that does not start and end with a
     * slash, or that two providers share; and what a provider throws for its configuration.
     */
    public static MountedHandlers of(Collection<? extends EdgeHandlerProvider> providers,
            Function<? super EdgeHandlerProvider, ? extends HandlerContext> contexts) {
        List<Mount> mounts = new ArrayList<>();
        for (EdgeHandlerProvider provider : providers) {
            String prefix = provider.mount();
            if (prefix == null || !prefix.startsWith("/") || !prefix.endsWith("/")) {
                throw new IllegalArgumentException("handler " + provider.name() + ": mount " + prefix
                        + " (expected: a path that starts and ends with /)");
            }
            if (mounts.stream().anyMatch(mount -> mount.prefix.equals(prefix))) {
                throw new IllegalArgumentException(
                        "handler " + provider.name() + ": mount " + prefix + " is taken by another handler");
            }
            mounts.add(new Mount(prefix, provider, provider.create(contexts.apply(provider))));
        }
        mounts.sort(Comparator.comparingInt((Mount mount) -> mount.prefix.length()).reversed());
        return new MountedHandlers(List.copyOf(mounts));
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        if (!RawPath.wellFormed(path)) {
            return Mono.error(new EdgeException(Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
                    "the path has dot segments, backslashes, control bytes or broken escapes")));
        }
        for (Mount mount : mounts) {
            if (mount.covers(path)) {
                return mount.handler.handle(request);
            }
        }
        return Mono.error(new EdgeException(
                Problem.of(Cause.NOT_FOUND, Hop.EDGE, "nothing is served at this path")));
    }

    /** Starts all providers, one after the other. Fails as the first of them fails, after stopping the others. */
    public Mono<Void> start() {
        return Flux.fromIterable(mounts)
                .concatMap(mount -> mount.provider.start())
                .then()
                .onErrorResume(error -> stop(Duration.ZERO).then(Mono.error(error)));
    }

    /** Stops all providers at the same time. One that fails does not keep the others from stopping. */
    public Mono<Void> stop(Duration grace) {
        return Mono.whenDelayError(mounts.stream().map(mount -> mount.provider.stop(grace)).toList());
    }

    private record Mount(String prefix, EdgeHandlerProvider provider, EdgeHandler handler) {
        /** {@code /x/} covers {@code /x} and everything below. */
        boolean covers(String path) {
            return path.startsWith(prefix)
                    || (path.length() == prefix.length() - 1 && prefix.startsWith(path));
        }
    }
}
